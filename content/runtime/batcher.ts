/**
 * Asks questions that come in one turn of the event loop together, where asking costs more than what is asked: a
 * transaction for instance. `askAll` answers in the order of the questions, at once or later.
 */
export function batcher<Question, Answer>(
  askAll: (questions: readonly Question[]) => readonly Answer[] | Promise<readonly Answer[]>,
) {
  let waiting: (PromiseWithResolvers<Answer> & { question: Question })[] = [];
  const flush = () => {
    const asked = waiting;
    waiting = [];
    if (asked.length === 0) return;
    Promise.try(
      askAll,
      asked.map(({ question }) => question),
    ).then(
      (answers) => {
        for (const [at, { resolve }] of asked.entries()) resolve(answers[at] as Answer);
      },
      (error: unknown) => {
        for (const { reject } of asked) reject(error);
      },
    );
  };
  return {
    /** Answers at the end of this turn of the event loop. Throws what asking threw, for all who asked together. */
    ask: (question: Question): Promise<Answer> => {
      const one = { question, ...Promise.withResolvers<Answer>() };
      if (waiting.length === 0) setImmediate(flush);
      waiting.push(one);
      return one.promise;
    },
    /** Asks now what is waiting. */
    flush,
  };
}
