// Runs a bundled function in the runtime of Next's edge functions: node startEdge.mjs edge.js '{ "baseUrl": … }'. The last line of its output is the report.
import { readFileSync } from 'node:fs'
import { EdgeRuntime } from 'edge-runtime'

const [, , file, given] = process.argv
const runtime = new EdgeRuntime({ initialCode: readFileSync(file, 'utf8') })
const response = await runtime.dispatchFetch('http://edge.example', { method: 'POST', body: given })
console.log(`\n${await response.text()}`)
