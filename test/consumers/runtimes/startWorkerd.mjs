// Runs a bundled worker in workerd, Cloudflare's runtime: node startWorkerd.mjs worker.js '{ "baseUrl": … }'. The last line of its output is the report.
import { readFileSync } from 'node:fs'
import { Miniflare } from 'miniflare'

const [, , file, given] = process.argv
const script = readFileSync(file, 'utf8')
const miniflare = new Miniflare({ modules: true, script, compatibilityDate: '2026-07-01' })
const response = await miniflare.dispatchFetch('http://worker.example', { method: 'POST', body: given })
console.log(`\n${await response.text()}`)
await miniflare.dispose()
