import { methodNames } from '@keyrail/core'
import { getFlaggedMethods, isReadMethod } from '@keyrail/core/internal'
import { z } from 'zod'
import { methods } from '../../lib/methods.ts'
import { maxWeight } from '../method/weights.ts'
import { choice, flag, must, object, text, whole } from './fields.ts'

const namePattern = /^[a-z][A-Za-z0-9]{0,31}_[A-Za-z0-9_]{1,64}$/
/** Methods that administer a node or rewrite the chain of a development node, and the notifications of subscriptions. */
const administers =
  /^(?:admin|anvil|engine|evm|ganache|hardhat|miner|personal|testing)_|^tenderly_(?:add|set)|^clique_(?:discard|propose)$|^eth_subscription$/
/** Methods that sign with the accounts of a node. */
const signs = /_(?:sign[A-Z_]|sendTransaction(?:As[A-Z]\w*)?$|resend$)|^eth_sign/
const isImpossible = (name: string): boolean => administers.test(name) || signs.test(name)
/** The methods of the specification that are never offered, most of them because they use the accounts of a node. */
const neverOffered: ReadonlySet<string> = new Set(methodNames.filter((name) => !methods.has(name)))
const flagged: ReadonlySet<string> = new Set(getFlaggedMethods())

const ownMethodName = () =>
  z
    .string()
    .regex(namePattern, 'has a name that is not a method: use full names, such as "zks_getBridgeContracts"')
    .refine((name) => !isImpossible(name) && !neverOffered.has(name), {
      error:
        'has a method that no network can offer, because it administers a node, uses its accounts, or rewrites its chain: remove it',
    })

const addressKinds = choice(['address', 'block', 'call', 'logFilter', 'plain', 'rawTransaction'])

const ownMethod = object({
  read: flag()
    .default(false)
    .describe('Whether it changes nothing, so that the service may send it to another node after a failure.'),
  write: flag().default(false).describe('The opposite of `read`, and the default: it is never sent twice.'),
  weight: whole(1, maxWeight)
    .exactOptional()
    .describe(
      'How many requests a call counts as. Default: the weight in `limits.weights`, of the network first, otherwise `1`.',
    ),
  upstreams: z
    .array(text('must be the name of a node', 64), must('must be a list of names of nodes, such as ["pimlico"]'))
    .min(1, 'must have at least one name: to offer the method nowhere, remove it')
    .readonly()
    .exactOptional()
    .describe('The names of the only nodes that get it. Default: all.'),
  addresses: z
    .union([z.literal('none'), z.array(addressKinds).readonly()], {
      error: 'must be "none" or a list with what each param is, such as ["address", "block"]',
    })
    .exactOptional()
    .describe(
      'What each param is, for apps with an address list: see [methods](../service/methods.md#address-lists). Default: such apps cannot call it.',
    ),
})

/** The most methods that the config can add to a network. Each has labels in metrics. */
const maxOwnMethods = 200

/** The schema of `networks.NAME.methods`. */
export const ownMethods = z
  .record(ownMethodName(), ownMethod, must('must be an object with a method for each name'))
  .refine((given) => Object.keys(given).length <= maxOwnMethods, `must have at most ${maxOwnMethods} methods`)
  .superRefine((given, context) => {
    for (const [name, { read, write, addresses }] of Object.entries(given)) {
      const addIssue = (member: string, message: string): void =>
        context.addIssue({ code: 'custom', path: [name, member], message })
      const isRead = isReadMethod(name)
      if (read && write) addIssue('read', 'must not be true together with write: remove one of them')
      else if (write && isRead) addIssue('write', 'must not be true, because the method is known as a read: remove it')
      else if (read && !isRead && (flagged.has(name) || methods.has(name)))
        addIssue('read', 'must not be true, because the method is known as a write: remove it')
      if (addresses !== undefined && methods.has(name))
        addIssue('addresses', 'must not be set, because the params of the method are known: remove it')
    }
  })
