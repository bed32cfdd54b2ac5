// Run it with node program.mjs '{ "baseUrl": … }', or with Deno or Bun. The last line of its output is the report.
import { useKeyrail } from './useKeyrail.mjs'

console.log(JSON.stringify(await useKeyrail(JSON.parse(process.argv[2]))))
