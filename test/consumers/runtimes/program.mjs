// node program.mjs '{ "baseUrl": … }'; and so for Deno and Bun. Its last line is the report.
import { useKeyrail } from './useKeyrail.mjs'

console.log(JSON.stringify(await useKeyrail(JSON.parse(process.argv[2]))))
