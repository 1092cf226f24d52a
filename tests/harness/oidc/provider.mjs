// A real OpenID provider and a user who logs in without a browser: code flow with PKCE, through its forms.
//
// Prints one line of JSON with the issuer and the issued tokens, then serves its keys until its input ends.
// Set up with `npm install` in this folder; run by `cargo test -p pidq-http --test identity`.

import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const RESOURCE = "https://pidq.example";
const REDIRECT = "https://tool.example/callback";
const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"];

// The provider warns about settings that are unsuitable for production. This is a test.
console.warn = console.info = console.error = () => {};

const server = createServer().listen(0, "127.0.0.1");
await new Promise((ready) => server.once("listening", ready));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, await configuration());
server.on("request", provider.callback());

const issued = {};
for (const algorithm of ALGORITHMS) issued[algorithm] = await logIn(`${RESOURCE}/${algorithm}`);
console.log(JSON.stringify({ issuer, issued }));
process.stdin.resume().on("end", () => process.exit(0));

async function configuration() {
  return {
    clients: [{
      client_id: "tool",
      token_endpoint_auth_method: "none",
      application_type: "native",
      redirect_uris: [REDIRECT],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    }],
    jwks: { keys: await keys() },
    cookies: { keys: ["only for tests"] },
    scopes: ["openid", "read", "write"],
    pkce: { required: () => true },
    enabledJWA: { idTokenSigningAlgValues: ALGORITHMS },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({
          scope: "read write",
          audience: resource.slice(0, RESOURCE.length),
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: resource.slice(RESOURCE.length + 1) } },
        }),
      },
    },
  };
}

async function keys() {
  const { generateKeyPair, exportJWK } = await import("jose");
  const key = async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return { ...(await exportJWK(privateKey)), kid: alg, use: "sig", alg };
  };
  return Promise.all(ALGORITHMS.map(key));
}

// Logs in as a browser does: follows redirects, stores cookies and sends forms. Returns the tokens.
async function logIn(resource) {
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const parameters = new URLSearchParams({
    client_id: "tool", redirect_uri: REDIRECT, response_type: "code", scope: "openid read write", resource,
    code_challenge: challenge, code_challenge_method: "S256",
  });
  const code = await getCode(`${issuer}/auth?${parameters}`);
  const form = { grant_type: "authorization_code", client_id: "tool", redirect_uri: REDIRECT, code, code_verifier: verifier, resource };
  const response = await fetch(`${issuer}/token`, { method: "POST", body: new URLSearchParams(form) });
  if (response.status !== 200) throw new Error(await response.text());
  const { access_token, id_token } = await response.json();
  return { access_token, id_token };
}

async function getCode(start) {
  const cookies = new Map();
  let next = { url: start };
  for (let hop = 0; hop < 12; hop += 1) {
    const headers = { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") };
    const response = await fetch(next.url, { method: next.body ? "POST" : "GET", body: next.body, headers, redirect: "manual" });
    for (const cookie of response.headers.getSetCookie()) {
      const [name, value] = cookie.split(";")[0].split("=");
      if (value) cookies.set(name, value); else cookies.delete(name);
    }
    const location = response.headers.get("location");
    if (location?.startsWith(REDIRECT)) return codeIn(location);
    next = location ? { url: new URL(location, next.url).href } : form(await response.text(), next.url);
  }
  throw new Error("the login did not end");
}

function codeIn(location) {
  const code = new URL(location).searchParams.get("code");
  if (!code) throw new Error(location);
  return code;
}

// The provider's built-in pages request a name first, then consent.
function form(page, url) {
  const action = page.match(/<form[^>]*action="([^"]+)"/)?.[1];
  const prompt = page.match(/name="prompt" value="([^"]+)"/)?.[1];
  if (!action) throw new Error(`no form at ${url}:\n${page.slice(0, 2000)}`);
  return { url: new URL(action, url).href, body: new URLSearchParams({ prompt, login: "ann", password: "x" }) };
}
