/** Creates a page that reads the latest block, with features as imports and options. */
const createProgram = (imports: readonly string[], options: readonly string[]): string => `
${imports.length > 0 ? `import { ${imports.join(', ')} } from '@keyrail/core'` : ''}
import { createClient } from '@keyrail/fetch'

const client = createClient({ ${options.join(', ')} })
client.eth_getBlockByNumber('latest', false).then((block) => console.log(block?.number, block?.hash))
`

const url = "url: 'https://node.example/testnet'"

/** The options that turn each feature on. */
const featureOptions: Readonly<Record<string, string>> = {
  batch: 'batch: batch()',
  budget: 'budget: budget({ requestsPerSecond: 25 })',
  cache: 'cache: cache()',
  safeWrites: 'safeWrites: safeWrites({ keccak256: globalThis.keccak256 })',
  stats: 'stats: stats()',
  hooks: 'hooks: hooks({ onFailure: console.warn })',
  tracing: 'tracing: tracing({ api: globalThis.opentelemetry })',
  diagnostics: 'diagnostics: diagnostics()',
  webSocket: 'webSocket: webSocket()',
  layer: 'layers: [layer((request) => request)]',
}
const failoverOption = `endpoints: failover([{ ${url} }, { url: 'https://other.example' }])`

/** The defaults of `createClient`. */
export const defaultProgram: string = createProgram([], [url])

/** The defaults and one feature, by the name of the feature. */
export const withFeature: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(featureOptions).map(([name, option]) => [name, createProgram([name], [url, option])]),
  ),
  failover: createProgram(['failover'], [failoverOption]),
  confirm: createProgram(['confirm', 'failover'], [failoverOption.replace('])', '], { confirm: confirm() })')]),
}

/** Every feature. */
export const fullProgram: string = createProgram(
  [...Object.keys(featureOptions), 'failover'],
  [...Object.values(featureOptions), failoverOption],
)

/** Programs that use one small function. The rest of their size is code that bundlers cannot drop. */
export const tiny = {
  core: `import { isKeyrailError } from '@keyrail/core'\nexport default (error) => isKeyrailError(error)\n`,
  fetch: `import { encodeHex } from '@keyrail/fetch'\nexport default (value) => encodeHex(value)\n`,
} as const
