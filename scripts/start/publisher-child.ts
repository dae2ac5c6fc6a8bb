import { join } from "node:path";
import { type SupervisedChild, superviseChild } from "#content/runtime/supervised-child.ts";

/**
 * Keeps the resident publisher running beside the service. One that dies is started again and catches up by itself.
 * Ready once the first release is there to be served.
 */
export const startPublisherChild = (
  onTrouble: (message: string) => void,
): SupervisedChild<{ release: number }> =>
  superviseChild({
    script: join(import.meta.dirname, "../publish.ts"),
    args: () => ["--watch"],
    onEnd: ({ cause, againInMs }) =>
      onTrouble(
        `The publisher ended (${cause}) and is started again in ${againInMs / 1_000} s. What is published goes on being served.`,
      ),
  });
