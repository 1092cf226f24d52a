// Identity provider of the browser tests: the real `oidc-provider`, with its own pages for login, consent and logout.
//
// node provider.mjs PORT DASHBOARD_URL: every login name is a user with any password. Users have a plant, without which
// the API does not accept them, unless the name is `stranger`.

import { Provider } from "oidc-provider";

const RESOURCE = "https://pidq.example";

const [port, dashboard] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;

// The provider warns about settings that are unsuitable for production. This is a test.
console.warn = console.info = () => {};

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "pidq-dashboard",
      client_secret: process.env.PIDQ_DASHBOARD_SSO_CLIENT_SECRET,
      // Web clients need HTTPS.
      application_type: "native",
      redirect_uris: [`${dashboard}/session/callback`],
      post_logout_redirect_uris: [`${dashboard}/sign-in`],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
  ],
  cookies: { keys: ["only for tests"] },
  scopes: ["openid", "read", "write"],
  claims: { openid: ["sub"], profile: ["preferred_username"] },
  conformIdTokenClaims: false,
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: `${id}@plant.example` }),
  }),
  extraTokenClaims: (_, token) => (token.accountId === "stranger" ? {} : { plant: "main" }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  // Short, so that the tests see tokens being refreshed.
  ttl: { AccessToken: 8, Interaction: 600, Session: 3600, Grant: 3600, IdToken: 600, RefreshToken: 3600 },
  features: {
    devInteractions: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: "read write", audience: RESOURCE, accessTokenFormat: "jwt" }),
    },
  },
});

provider.on("server_error", (_, error) => process.stderr.write(`${error.stack}\n`));
provider.listen(Number(port), "127.0.0.1");
