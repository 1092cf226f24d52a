// Checks the service with simple-oauth2. Prints a line of JSON per check: `[name, passed, remark]`.
//
// Run as `node simple.mjs URL CLIENT SECRET LOGIN PASSWORD`.

import { ClientCredentials, ResourceOwnerPassword } from "simple-oauth2";

const [url, id, secret, username, password] = process.argv.slice(2);
const config = (method, clientSecret = secret) => ({
  client: { id, secret: clientSecret },
  auth: { tokenHost: url, tokenPath: "/o/token/", revokePath: "/o/revoke_token/" },
  options: { authorizationMethod: method },
});

async function check(name, condition) {
  try {
    console.log(JSON.stringify([name, (await condition()) === true, ""]));
  } catch (error) {
    console.log(JSON.stringify([name, false, error.message]));
  }
}

const rejection = async (action) => {
  const error = await action().then(() => { throw new Error("it succeeded"); }, (error) => error);
  return `${error.output?.statusCode} ${error.data?.payload?.error}`;
};

for (const method of ["header", "body"]) {
  const owner = new ResourceOwnerPassword(config(method));
  const first = await owner.getToken({ username, password, scope: "read write" });
  await check(`${method}: a token`, () => first.token.token_type === "Bearer" && !first.expired());
  const next = await first.refresh();
  await check(`${method}: refresh rotates`, () => next.token.refresh_token !== first.token.refresh_token);
  await check(`${method}: revoke`, async () => next.revoke("access_token").then(() => true));
  await check(`${method}: revoked with its token family`, async () => (await rejection(() => next.refresh())) === "400 invalid_grant");
  const other = await owner.getToken({ username, password });
  await check(`${method}: revoke all`, async () => other.revokeAll().then(() => true));
  const machine = await new ClientCredentials(config(method)).getToken({ scope: "read" });
  await check(`${method}: client credentials`, () => machine.token.scope === "read");
  const wrong = new ClientCredentials(config(method, "wrong"));
  await check(`${method}: a wrong secret`, async () => (await rejection(() => wrong.getToken({}))) === "401 invalid_client");
}
