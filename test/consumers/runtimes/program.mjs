// Run it with node program.mjs '{ "baseUrl": … }', or with Deno or Bun. The last line of its output is the report.
import { runCalls } from './runCalls.mjs'

console.log(JSON.stringify(await runCalls(JSON.parse(process.argv[2]))))
