// The checks of simple-oauth2: one line of JSON for each, `[name, passed, remark]`.
//
// Run as `node simple.mjs URL CLIENT SECRET LOGIN PASSWORD`.

import { ClientCredentials, ResourceOwnerPassword } from "simple-oauth2";

const [url, id, secret, username, password] = process.argv.slice(2);
const config = (method, as = secret) => ({
  client: { id, secret: as },
  auth: { tokenHost: url, tokenPath: "/o/token/", revokePath: "/o/revoke_token/" },
  options: { authorizationMethod: method },
});

async function check(name, claim) {
  try {
    console.log(JSON.stringify([name, (await claim()) === true, ""]));
  } catch (error) {
    console.log(JSON.stringify([name, false, error.message]));
  }
}

const refusal = async (act) => {
  const error = await act().then(() => { throw new Error("it succeeded"); }, (error) => error);
  return `${error.output?.statusCode} ${error.data?.payload?.error}`;
};

for (const method of ["header", "body"]) {
  const owner = new ResourceOwnerPassword(config(method));
  const first = await owner.getToken({ username, password, scope: "read write" });
  await check(`${method}: a token`, () => first.token.token_type === "Bearer" && !first.expired());
  const next = await first.refresh();
  await check(`${method}: refresh rotates`, () => next.token.refresh_token !== first.token.refresh_token);
  await check(`${method}: revoke`, async () => next.revoke("access_token").then(() => true));
  await check(`${method}: revoked with its family`, async () => (await refusal(() => next.refresh())) === "400 invalid_grant");
  const other = await owner.getToken({ username, password });
  await check(`${method}: revoke all`, async () => other.revokeAll().then(() => true));
  const machine = await new ClientCredentials(config(method)).getToken({ scope: "read" });
  await check(`${method}: client credentials`, () => machine.token.scope === "read");
  const stranger = new ClientCredentials(config(method, "wrong"));
  await check(`${method}: a wrong secret`, async () => (await refusal(() => stranger.getToken({}))) === "401 invalid_client");
}
