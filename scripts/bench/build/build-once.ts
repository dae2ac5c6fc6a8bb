import { readConfig } from "#api/config.ts";
import { signingKeyOf } from "#api/secrets.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { openPublisher } from "#site/publisher/open-publisher.ts";

// One full build in a process of its own: only the profiles with their assets, or everything.
const onlyProfiles = process.argv[2] === "profiles";
const config = readConfig(process.env);
const publisher = await openPublisher({
  ...config,
  signingKey: signingKeyOf(config),
  log: () => {},
});
const profiles = documentKinds.filter(({ kind }) => kind === "profile" || kind === "assets");
const { failed } = await publisher.buildAll(onlyProfiles ? { kinds: profiles } : {});
publisher.close();
process.exit(failed.length === 0 ? 0 : 1);
