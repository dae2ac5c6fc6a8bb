import { randomBytes } from "node:crypto";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { secretDigest } from "#content/runtime/digest.ts";
import { isUsableKey, planOnce, requestDigest } from "#content/operation/idempotency-store.ts";
import { carryOut, type Plan, planned } from "#content/operation/plan.ts";
import { storedAnswerBytes, rowBytes, sizeOf } from "#content/requests/quota.ts";
import type { Queryable, Store } from "#content/store/open.ts";

export type RequestCall = {
  body: unknown;
  idempotencyKey: string | null;
  /** Keyed hash of the client's /24 or /48; null when it is not known. */
  network: string | null;
  countStored: (bytes: number) => void;
};

export type ReceiveFailure =
  | { kind: "invalid_idempotency_key" }
  | { kind: "idempotency_key_reused" };

/** Values that every stored request has. `created_at` is in milliseconds since 1970. */
export type NewRequest = {
  id: string;
  network: string | null;
  /** Equal for equal requests. */
  request_digest: string;
  /** Digest of the secret in the link of its status page. */
  status_digest: string;
  created_at: number;
};

/** What each kind of request provides to `receive` once its body is valid. */
type Reception<Value, Row, Failure> = {
  route: string;
  /** The owner of the Idempotency-Key: another sender may use the same text. */
  sender: string;
  /** What to store, as plain data. */
  request: unknown;
  /** Two requests are the same if this is equal. */
  sameness: unknown;
  /** The secret in the link of a status page, always the same for an id. */
  statusToken: (id: string) => string;
  waitingTwin: (store: Queryable, request_digest: string) => Promise<Row | null>;
  /** The answer if the same request already waits. */
  again: (store: Queryable, twin: Row) => Value | Promise<Value>;
  plan: (store: Queryable, row: NewRequest) => Promise<Plan<Value, Failure>>;
};

/** Why an Idempotency-Key cannot be used, for callers that must look something up before `receive`. */
export const keyRefusal = (key: string | null): ReceiveFailure | null =>
  key === null || isUsableKey(key) ? null : { kind: "invalid_idempotency_key" };

/**
 * Stores a request once, for an operator to decide. A repetition finds the waiting one; under the same Idempotency-Key it
 * gets the first answer. A refused request stores nothing.
 */
export async function receive<Value, Row, Failure>(
  { store, now }: { store: Store; now: Date },
  { idempotencyKey, network, countStored }: RequestCall,
  kind: Reception<Value, Row, Failure>,
): Promise<Result<Value, Failure | ReceiveFailure>> {
  const refusal = keyRefusal(idempotencyKey);
  if (refusal !== null) return fail(refusal);
  const { route, sender } = kind;
  const request_digest = requestDigest(kind.sameness);
  const once = { route, sender, idempotencyKey, digest: () => request_digest, now };
  let bytes = 0;
  const outcome = await store.write(async (tx) => {
    const plan = await planOnce<Value, Failure>(tx, once, async () => {
      bytes = storedAnswerBytes(idempotencyKey, sender, 1);
      const twin = await kind.waitingTwin(tx, request_digest);
      if (twin !== null) return planned(ok(await kind.again(tx, twin)));
      bytes += 2 * rowBytes + sizeOf(JSON.stringify(kind.request));
      const id = randomBytes(10).toString("hex");
      const status_digest = secretDigest(kind.statusToken(id));
      return kind.plan(tx, {
        id,
        network,
        request_digest,
        status_digest,
        created_at: now.getTime(),
      });
    });
    return carryOut(tx, plan);
  });
  if (outcome.ok) countStored(bytes);
  return outcome;
}
