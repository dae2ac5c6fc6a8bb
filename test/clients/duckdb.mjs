// Runs statements in DuckDB and prints the rows of each as JSON. The argument is JSON: { queries }.
import { DuckDBInstance } from "@duckdb/node-api";

const { queries } = JSON.parse(process.argv[2]);
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const answers = [];
for (const query of queries) {
  answers.push((await connection.runAndReadAll(query)).getRowObjectsJson());
}
process.stdout.write(JSON.stringify(answers));
