import { insertMany } from "#content/store/query.ts";
import { EnrichmentTally } from "./tally.ts";
import { keepAnswers, type NewAnswer } from "#content/operation/idempotency.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { countPending } from "#content/nonprofit/pending-store.ts";
import {
  type NewSubmission,
  type StoredSubmission,
  submissionColumns,
} from "./submission-store.ts";

/**
 * What a group of submissions adds to the store, gathered in memory so that it takes a few statements however many they
 * are. Whoever reads or changes what was added in the same transaction calls `flush` before.
 */
export class EnrichmentWrites {
  readonly tally = new EnrichmentTally();
  readonly #tx: WriteTransaction;
  #nextId: number;
  #submissions: StoredSubmission[] = [];
  #pending: NewSubmission[] = [];
  #answers: NewAnswer[] = [];

  private constructor(tx: WriteTransaction, nextId: number) {
    this.#tx = tx;
    this.#nextId = nextId;
  }

  static async begin(tx: WriteTransaction): Promise<EnrichmentWrites> {
    const { rows } = await tx.raw.execute(
      "SELECT seq FROM sqlite_sequence WHERE name = 'submissions'",
    );
    return new EnrichmentWrites(tx, Number(rows[0]?.["seq"] ?? 0) + 1);
  }

  /** Stores a submission; answers it with its id. The transaction holds the write lock, so the id stays free. */
  insert(one: NewSubmission): StoredSubmission {
    const stored = { ...one, id: this.#nextId };
    this.#nextId += 1;
    this.#submissions.push(stored);
    if (one.confidence > 1) this.tally.add("high_confidence");
    return stored;
  }

  /** Counts one more submission that waits for a second agent. */
  countPending(one: NewSubmission): void {
    this.#pending.push(one);
  }

  /** Keeps the answer to a request with an Idempotency-Key. */
  keepAnswer(answer: NewAnswer): void {
    this.#answers.push(answer);
  }

  /** Writes what was gathered but the running numbers. */
  async flush(): Promise<void> {
    const [submissions, pending, answers] = [this.#submissions, this.#pending, this.#answers];
    [this.#submissions, this.#pending, this.#answers] = [[], [], []];
    await insertMany(
      this.#tx,
      "submissions",
      ["id", ...submissionColumns],
      submissions.map((one) => [one.id, ...submissionColumns.map((column) => one[column])]),
    );
    if (pending.length > 0) await countPending(this.#tx, pending);
    if (answers.length > 0) await keepAnswers(this.#tx, answers);
  }

  /** Writes all that was gathered: the last thing in the transaction. */
  async end(): Promise<void> {
    await this.flush();
    await this.tally.write(this.#tx);
  }
}
