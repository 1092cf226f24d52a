// The checks of openid-client: one line of JSON for each, `[name, passed, remark]`.
//
// Run as `node openid.mjs URL CLIENT SECRET LOGIN PASSWORD`.

import * as oauth from "openid-client";

const [url, client, secret, login, password] = process.argv.slice(2);
const insecure = { execute: [oauth.allowInsecureRequests], algorithm: "oauth2" };
const user = { username: login, password };
const print = (name, passed, remark) => console.log(JSON.stringify([name, passed, String(remark ?? "")]));

async function check(name, claim) {
  try {
    print(name, (await claim()) === true, "");
  } catch (error) {
    print(name, false, `${error.code ?? ""} ${error.message}`);
  }
}

async function fails(name, act, claim) {
  try {
    await act();
    print(name, false, "it succeeded");
  } catch (error) {
    print(name, claim(error) === true, `${error.code ?? ""} ${error.error ?? ""} ${error.status ?? ""}`);
  }
}

const open = (authentication, as = secret) =>
  oauth.discovery(new URL(url), client, { client_secret: as }, authentication(as), insecure);

const posting = await open(oauth.ClientSecretPost);
const basic = await open(oauth.ClientSecretBasic);
await check("discovery has our issuer", () => posting.serverMetadata().issuer === url);
await check("discovery names the token endpoint", () => posting.serverMetadata().token_endpoint === `${url}/o/token/`);

const tokens = await oauth.genericGrantRequest(posting, "password", { ...user, scope: "read write" });
await check("password grant gives a bearer token", () => tokens.token_type === "bearer");
await check("password grant gives a refresh token", () => typeof tokens.refresh_token === "string");
await check("password grant gives the scope that was asked", () => tokens.scope === "read write");
await check("expires_in counts from now", () => tokens.expiresIn() > 3500);
await check("basic gives a token", async () => (await oauth.clientCredentialsGrant(basic)).token_type === "bearer");
await check("client credentials give no refresh token", async () =>
  (await oauth.clientCredentialsGrant(posting, { scope: "read" })).refresh_token === undefined);

const fetched = await oauth.fetchProtectedResource(posting, tokens.access_token, new URL(`${url}/graph`), "GET");
await check("the token opens a resource", () => fetched.status === 200);
const facts = await oauth.tokenIntrospection(posting, tokens.access_token);
await check("introspection tells of a living token", () => facts.active && facts.client_id === client && facts.iss === url);
const renewed = await oauth.refreshTokenGrant(posting, tokens.refresh_token);
await check("refresh rotates", () => renewed.refresh_token !== tokens.refresh_token);
await check("refresh keeps the scope", () => renewed.scope === "read write");
const narrow = await oauth.refreshTokenGrant(posting, renewed.refresh_token, { scope: "read" });
await check("refresh can be narrower", () => narrow.scope === "read");
await check("revocation is understood", async () => (await oauth.tokenRevocation(posting, narrow.access_token)) === undefined);
await check("revocation of what is unknown is understood", async () =>
  (await oauth.tokenRevocation(posting, "unknown")) === undefined);
await check("introspection tells of a dead token", async () =>
  (await oauth.tokenIntrospection(posting, narrow.access_token)).active === false);

const body = (error, status) => (e) => e instanceof oauth.ResponseBodyError && e.error === error && e.status === status;
await fails("a wrong password is invalid_grant",
  () => oauth.genericGrantRequest(posting, "password", { ...user, password: "wrong" }), body("invalid_grant", 400));
await fails("an unknown scope is invalid_scope",
  () => oauth.clientCredentialsGrant(posting, { scope: "all" }), body("invalid_scope", 400));
await fails("an unknown grant is unsupported_grant_type",
  () => oauth.genericGrantRequest(posting, "urn:x", {}), body("unsupported_grant_type", 400));
await fails("a used-up refresh token is invalid_grant",
  () => oauth.refreshTokenGrant(posting, narrow.refresh_token), body("invalid_grant", 400));
const stranger = await open(oauth.ClientSecretPost, "wrong");
await fails("a wrong secret in the body is invalid_client",
  () => oauth.clientCredentialsGrant(stranger), body("invalid_client", 401));
await fails("introspection refuses strangers",
  () => oauth.tokenIntrospection(stranger, "x"), body("invalid_client", 401));
await fails("revocation refuses strangers",
  () => oauth.tokenRevocation(stranger, "x"), body("invalid_client", 401));
const challenged = (scheme, error) => (e) =>
  e.code === "OAUTH_WWW_AUTHENTICATE_CHALLENGE" && e.status === 401 &&
  e.cause[0].scheme === scheme && e.cause[0].parameters.error === error;
const strangerBasic = await open(oauth.ClientSecretBasic, "wrong");
await fails("a wrong secret in the header is a challenge of the same scheme",
  () => oauth.clientCredentialsGrant(strangerBasic), challenged("basic", undefined));
await fails("a dead token is a challenge with invalid_token",
  () => oauth.fetchProtectedResource(posting, narrow.access_token, new URL(`${url}/graph`), "GET"),
  challenged("bearer", "invalid_token"));
