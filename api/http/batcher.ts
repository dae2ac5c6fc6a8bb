export type Batcher<Question, Answer> = {
  /** Answers at the end of this turn of the event loop. Throws what asking threw, for all who asked together. */
  ask(question: Question): Promise<Answer>;
  /** Asks now what is waiting. */
  flush(): void;
};

type Waiting<Question, Answer> = {
  question: Question;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};

/**
 * Asks questions that come in one turn of the event loop together, where asking costs more than what is asked: a
 * transaction for instance. `askAll` answers in the order of the questions, at once or later.
 */
export function batcher<Question, Answer>(
  askAll: (questions: readonly Question[]) => readonly Answer[] | Promise<readonly Answer[]>,
): Batcher<Question, Answer> {
  let waiting: Waiting<Question, Answer>[] = [];
  const flush = () => {
    const asked = waiting;
    waiting = [];
    if (asked.length === 0) return;
    const answer = (answers: readonly Answer[]) => {
      for (const [at, { resolve }] of asked.entries()) resolve(answers[at] as Answer);
    };
    const refuse = (error: unknown) => {
      for (const { reject } of asked) reject(error);
    };
    try {
      const answers = askAll(asked.map(({ question }) => question));
      if (answers instanceof Promise) answers.then(answer, refuse);
      else answer(answers);
    } catch (error) {
      refuse(error);
    }
  };
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ question, resolve, reject });
      }),
    flush,
  };
}
