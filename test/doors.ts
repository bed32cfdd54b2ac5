/** The smallest useful program: the latest block through a composed transport, without a client. */
export const smallDoor = `
import { compose, deadline, http, retry } from '@keyrail/core'

const transport = compose(http({ url: 'https://node.example/testnet' }), retry(), deadline())
transport.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }).then((block) => console.log(block))
`

/** The same through the full door. */
export const fullDoor = `
import { createClient } from '@keyrail/fetch'

const client = createClient({ url: 'https://node.example/testnet' })
client.eth_getBlockByNumber('latest', false).then((block) => console.log(block?.number, block?.hash))
`

/** How each layer stands in a program: around the endpoint, or among the layers. Both as code. */
const places: Readonly<Record<string, { readonly names: string; readonly around?: string; readonly layer?: string }>> =
  {
    hints: { names: 'hints', layer: 'hints()' },
    gate: { names: 'gate', around: 'gate()(_)' },
    batch: { names: 'batch, gate', around: 'batch()(gate()(_))' },
    budget: { names: 'budget', around: 'budget()(_)' },
    breaker: { names: 'breaker', around: 'breaker()(_)' },
    route: { names: 'route', around: 'route([_])' },
    coalesce: { names: 'coalesce', layer: 'coalesce()' },
    cache: { names: 'cache', layer: 'cache()' },
    safeWrite: { names: 'safeWrite', layer: 'safeWrite({ keccak256: globalThis.keccak256 })' },
    observe: { names: 'observe, createStats', layer: 'observe({ stats: createStats() })' },
    layer: { names: 'layer', layer: 'layer((request) => request)' },
  }

/** The small door with one layer more, by the layer's name. */
export const withLayer: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(places).map(([name, { names, around = '_', layer }]) => [
    name,
    smallDoor
      .replace('{ compose', `{ ${names}, compose`)
      .replace(/http\(\{.*?\}\)/, (http) => around.replace('_', http))
      .replace('retry(),', layer === undefined ? 'retry(),' : `retry(), ${layer},`),
  ]),
)

/** Programs that want one small thing. What they weigh beyond it is what bundlers cannot shake out. */
export const tiny = {
  core: `import { isKeyrailError } from '@keyrail/core'\nexport default (error) => isKeyrailError(error)\n`,
  fetch: `import { encodeHex } from '@keyrail/fetch'\nexport default (value) => encodeHex(value)\n`,
} as const
