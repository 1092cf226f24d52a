// Checks the service with openid-client. Prints a line of JSON per check: `[name, passed, remark]`.
//
// Run as `node openid.mjs URL CLIENT SECRET LOGIN PASSWORD`.

import * as oauth from "openid-client";

const [url, client, secret, login, password] = process.argv.slice(2);
const insecure = { execute: [oauth.allowInsecureRequests], algorithm: "oauth2" };
const user = { username: login, password };
const print = (name, passed, remark) => console.log(JSON.stringify([name, passed, String(remark ?? "")]));

async function check(name, condition) {
  try {
    print(name, (await condition()) === true, "");
  } catch (error) {
    print(name, false, `${error.code ?? ""} ${error.message}`);
  }
}

async function checkRejects(name, action, matches) {
  try {
    await action();
    print(name, false, "it succeeded");
  } catch (error) {
    print(name, matches(error) === true, `${error.code ?? ""} ${error.error ?? ""} ${error.status ?? ""}`);
  }
}

const discover = (authentication, clientSecret = secret) =>
  oauth.discovery(new URL(url), client, { client_secret: clientSecret }, authentication(clientSecret), insecure);

const post = await discover(oauth.ClientSecretPost);
const basic = await discover(oauth.ClientSecretBasic);
await check("discovery has the issuer", () => post.serverMetadata().issuer === url);
await check("discovery has the token endpoint", () => post.serverMetadata().token_endpoint === `${url}/o/token/`);

const tokens = await oauth.genericGrantRequest(post, "password", { ...user, scope: "read write" });
await check("password grant gives a bearer token", () => tokens.token_type === "bearer");
await check("password grant gives a refresh token", () => typeof tokens.refresh_token === "string");
await check("password grant gives the requested scope", () => tokens.scope === "read write");
await check("expires_in is about an hour", () => tokens.expiresIn() > 3500);
await check("basic gives a token", async () => (await oauth.clientCredentialsGrant(basic)).token_type === "bearer");
await check("client credentials give no refresh token", async () =>
  (await oauth.clientCredentialsGrant(post, { scope: "read" })).refresh_token === undefined);

const fetched = await oauth.fetchProtectedResource(post, tokens.access_token, new URL(`${url}/graph`), "GET");
await check("the token gives access to a resource", () => fetched.status === 200);
const introspection = await oauth.tokenIntrospection(post, tokens.access_token);
await check("introspection of a valid token is active", () => introspection.active && introspection.client_id === client && introspection.iss === url);
const renewed = await oauth.refreshTokenGrant(post, tokens.refresh_token);
await check("refresh rotates", () => renewed.refresh_token !== tokens.refresh_token);
await check("refresh keeps the scope", () => renewed.scope === "read write");
const narrow = await oauth.refreshTokenGrant(post, renewed.refresh_token, { scope: "read" });
await check("refresh can be narrower", () => narrow.scope === "read");
await check("revocation succeeds", async () => (await oauth.tokenRevocation(post, narrow.access_token)) === undefined);
await check("revocation of an unknown token succeeds", async () =>
  (await oauth.tokenRevocation(post, "unknown")) === undefined);
await check("introspection of a revoked token is not active", async () =>
  (await oauth.tokenIntrospection(post, narrow.access_token)).active === false);

const isOAuthError = (error, status) => (e) => e instanceof oauth.ResponseBodyError && e.error === error && e.status === status;
await checkRejects("a wrong password is invalid_grant",
  () => oauth.genericGrantRequest(post, "password", { ...user, password: "wrong" }), isOAuthError("invalid_grant", 400));
await checkRejects("an unknown scope is invalid_scope",
  () => oauth.clientCredentialsGrant(post, { scope: "all" }), isOAuthError("invalid_scope", 400));
await checkRejects("an unknown grant is unsupported_grant_type",
  () => oauth.genericGrantRequest(post, "urn:x", {}), isOAuthError("unsupported_grant_type", 400));
await checkRejects("a used-up refresh token is invalid_grant",
  () => oauth.refreshTokenGrant(post, narrow.refresh_token), isOAuthError("invalid_grant", 400));
const wrongPost = await discover(oauth.ClientSecretPost, "wrong");
await checkRejects("a wrong secret in the body is invalid_client",
  () => oauth.clientCredentialsGrant(wrongPost), isOAuthError("invalid_client", 401));
await checkRejects("introspection rejects a wrong secret",
  () => oauth.tokenIntrospection(wrongPost, "x"), isOAuthError("invalid_client", 401));
await checkRejects("revocation rejects a wrong secret",
  () => oauth.tokenRevocation(wrongPost, "x"), isOAuthError("invalid_client", 401));
const isChallenge = (scheme, error) => (e) =>
  e.code === "OAUTH_WWW_AUTHENTICATE_CHALLENGE" && e.status === 401 &&
  e.cause[0].scheme === scheme && e.cause[0].parameters.error === error;
const wrongBasic = await discover(oauth.ClientSecretBasic, "wrong");
await checkRejects("a wrong secret in the header is a challenge of the same scheme",
  () => oauth.clientCredentialsGrant(wrongBasic), isChallenge("basic", undefined));
await checkRejects("a revoked token is a challenge with invalid_token",
  () => oauth.fetchProtectedResource(post, narrow.access_token, new URL(`${url}/graph`), "GET"),
  isChallenge("bearer", "invalid_token"));
