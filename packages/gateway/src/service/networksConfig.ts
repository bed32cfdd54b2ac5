import { z } from 'zod'
import { maxOwnNames } from '../lib/methods.ts'
import { isNetworkName, networkNameRule } from '../lib/network.ts'
import { networkBounds } from '../proxy/options/bounds.ts'
import { flag, httpUrl, must, object, path, text, whole, wsUrl } from '../proxy/options/fields.ts'
import { networkShape } from '../proxy/options/networkOptions.ts'
import { upstreamShape } from '../proxy/options/upstreamOptions.ts'
import { findHeadersFault, isHeaderValue } from '../proxy/upstream/upstreamHeaders.ts'
import { describeUnknownMethod, isWeightedMethod } from '../proxy/method/weights.ts'
import { networkLimits } from './limitsConfig.ts'
import { parseUpstreamText, upstreamTextForms, vendorKeyShape, vendorName } from './vendorConfig.ts'

/** Request headers. Names, file paths and values are checked together, because the path of an issue would repeat a name that may be a secret. */
export const headers = () =>
  z
    .record(
      z.string(),
      z.union([z.string(), z.strictObject({ file: z.string() })], {
        error: 'must have a text or { "file": PATH } for each header',
      }),
      must('must be an object of request headers, such as { "x-api-key": { "file": "node-key" } }'),
    )
    .superRefine((given, context) => {
      const fault = findHeadersFault(given, (value) => typeof value === 'object' || isHeaderValue(value))
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
    })

const countDefined = (...values: readonly unknown[]): number => values.filter((value) => value !== undefined).length

/** Finds the first text that an earlier one equals. @returns Its index. */
const findRepeated = (texts: readonly string[]): number | undefined => {
  const at = texts.findIndex((one, index) => texts.indexOf(one) < index)
  return at === -1 ? undefined : at
}

/** The methods of a list or of weights, without the `*`, which means all others. */
const getMethods = (given: readonly string[] | Readonly<Record<string, number>> = []): readonly string[] =>
  Array.isArray(given) ? given : Object.keys(given).filter((name) => name !== '*')

const upstreamsMessage = 'must be a list of at least one node, such as [{ "url": "http://127.0.0.1:8545" }]'

/** One node of a network. */
const upstream = object({
  url: httpUrl('must be the http or https URL of a node')
    .exactOptional()
    .describe('The http or https URL, which may have a path, a query, a user and a password. It is never logged.'),
  urlEnv: text('must be the name of an environment variable that holds the URL')
    .exactOptional()
    .describe('The name of an environment variable that holds the URL.'),
  urlFile: path('a file that holds the URL').exactOptional().describe('The path of a file that holds the URL.'),
  vendor: vendorName()
    .exactOptional()
    .describe(
      'A [vendor](../service/vendors.md), in place of a URL: the service makes the URL of its key and the chain id.',
    ),
  keyEnv: vendorKeyShape.keyEnv.describe(
    "The name of an environment variable that holds the vendor's key. Default: the key of the vendor in `vendors`.",
  ),
  keyFile: vendorKeyShape.keyFile.describe("The path of a file that holds the vendor's key."),
  wsUrl: wsUrl('must be the ws or wss URL of a node')
    .exactOptional()
    .describe(
      'The ws or wss URL. With it, [subscriptions](../service/subscriptions.md#nodes) learn of new blocks and pending transactions at once. Default: none: the node is polled.',
    ),
  wsUrlEnv: text('must be the name of an environment variable that holds the WebSocket URL')
    .exactOptional()
    .describe('The name of an environment variable that holds the WebSocket URL.'),
  wsUrlFile: path('a file that holds the WebSocket URL')
    .exactOptional()
    .describe('The path of a file that holds the WebSocket URL.'),
  headers: headers()
    .exactOptional()
    .describe(
      'Request headers, also for the WebSocket. A value is a string, or `{ "file": PATH }` for a file that holds it.',
    ),
  ...upstreamShape,
})
  .refine(
    ({ url, urlEnv, urlFile, vendor }) => countDefined(url, urlEnv, urlFile, vendor) === 1,
    'must have exactly one of url, urlEnv, urlFile and vendor',
  )
  .refine(
    ({ vendor, keyEnv, keyFile }) => countDefined(keyEnv, keyFile) <= (vendor === undefined ? 0 : 1),
    'must have at most one of keyEnv and keyFile, and only with vendor',
  )
  .refine(
    (given) => countDefined(given.wsUrl, given.wsUrlEnv, given.wsUrlFile) <= 1,
    'must have at most one of wsUrl, wsUrlEnv and wsUrlFile',
  )

/** One node as a text, which is short for an object. */
const upstreamText = z
  .string(must(upstreamTextForms))
  .transform((given, context) => {
    const parsed = parseUpstreamText(given)
    if (!('fault' in parsed)) return parsed
    context.issues.push({ code: 'custom', message: parsed.fault, input: undefined })
    return z.NEVER
  })
  .pipe(upstream)

/** The name of a network or of a chain. */
export const networkName = () => z.string(must(networkNameRule)).refine(isNetworkName, networkNameRule)

const network = object({
  chainId: whole(1, Number.MAX_SAFE_INTEGER)
    .exactOptional()
    .describe(
      'The chain id that each node must have. A node with another one is never used. Default: of the well-known network.',
    ),
  chain: networkName()
    .exactOptional()
    .describe('The chain that it is a network of, such as `base`. Default: of the well-known network, else its name.'),
  title: text('must be a title such as "Base Sepolia"', 64)
    .exactOptional()
    .describe('The name that people read, such as `Base Sepolia`. Default: of the well-known network, else its name.'),
  symbol: text('must be the symbol of its coin, such as "ETH"', 16)
    .exactOptional()
    .describe('The symbol of the coin. Default: of the well-known network, else `ETH`.'),
  testnet: flag()
    .exactOptional()
    .describe(
      'Whether the coin has no value. Default: of the well-known network, else whether the name is `testnet` or ends in `-testnet`.',
    ),
  aliases: z
    .array(networkName(), must('must be a list of names'))
    .readonly()
    .exactOptional()
    .describe('Other names, which work in URLs too. Default: of the well-known network.'),
  explorerUrl: httpUrl('must be the http or https URL of a block explorer')
    .exactOptional()
    .describe('The URL of a block explorer. Default: of the well-known network.'),
  upstreams: z
    .array(z.union([upstreamText, upstream]), must(upstreamsMessage))
    .min(1, upstreamsMessage)
    .readonly()
    .prefault([])
    .describe('The nodes. They can be left out if `vendors` adds one.'),
  ...networkShape,
  limits: networkLimits.exactOptional(),
  bounds: networkBounds.exactOptional(),
})

/** The schema of `networks`. */
export const networks = z
  .record(networkName(), network, must('must be an object with a network for each name'))
  .refine((given) => Object.keys(given).length > 0, 'must have at least one network')
  .refine(
    (given) => new Set(Object.values(given).flatMap((network) => Object.keys(network.methods))).size <= maxOwnNames,
    `must add at most ${maxOwnNames} methods together`,
  )
  .superRefine((given, context) => {
    for (const [name, { upstreams, loadBalancing, methods, methodPresets, confirm }] of Object.entries(given)) {
      for (const [index, rule] of confirm.entries())
        for (const [place, method] of rule.methods.entries())
          if (!isWeightedMethod(method) && !Object.hasOwn(methods, method))
            context.addIssue({
              code: 'custom',
              path: [name, 'confirm', index, 'methods', place],
              message: describeUnknownMethod(method),
            })
      if (methodPresets?.includes('private-transactions') === true && !upstreams.some((one) => one.privateTransactions))
        context.addIssue({
          code: 'custom',
          path: [name, 'methodPresets'],
          message:
            'has "private-transactions", but no node gets those: add "privateTransactions": true to a node, or remove the preset',
        })
      if (upstreams.length > 0 && upstreams.every((one) => one.privateTransactions))
        context.addIssue({
          code: 'custom',
          path: [name, 'upstreams'],
          message:
            'has only nodes with "privateTransactions", which get nothing else: add a node without it, which gets the reads',
        })
      const nodes = upstreams.map((one, index) => one.name ?? `${name}-${index + 1}`)
      for (const [method, { upstreams: wanted = [] }] of Object.entries(methods))
        for (const [index, node] of wanted.entries())
          if (!nodes.includes(node))
            context.addIssue({
              code: 'custom',
              path: [name, 'methods', method, 'upstreams', index],
              message: `must be the name of a node of this network: ${nodes.join(', ')}`,
            })
      for (const [index, upstream] of upstreams.entries())
        for (const list of ['allowMethods', 'denyMethods', 'weights'] as const)
          for (const [place, method] of getMethods(upstream[list]).entries())
            if (!isWeightedMethod(method) && !Object.hasOwn(methods, method))
              context.addIssue({
                code: 'custom',
                path: [name, 'upstreams', index, list, ...(list === 'weights' ? [] : [place])],
                message: describeUnknownMethod(method),
              })
      const repeated = findRepeated(nodes)
      if (repeated !== undefined)
        context.addIssue({
          code: 'custom',
          path: [name, 'upstreams', repeated, 'name'],
          message: 'is the name of another upstream of this network: use a different one',
        })
      for (const [index, upstream] of upstreams.entries())
        for (const [option, needed, works] of [
          ['weight', 'spread', loadBalancing !== 'order'],
          ['unitPrice', 'cost', loadBalancing === 'cost'],
        ] as const)
          if (upstream[option] !== undefined && !works)
            context.addIssue({
              code: 'custom',
              path: [name, 'upstreams', index, option],
              message: `only works with "loadBalancing": "${needed}": add that to networks.${name}, or remove the ${option}`,
            })
    }
  })
