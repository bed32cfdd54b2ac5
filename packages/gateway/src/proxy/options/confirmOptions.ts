import { z } from 'zod'
import { methods } from '../../lib/methods.ts'
import { isConfirmable } from '../method/confirmRule.ts'
import { choice, must, object, text, whole } from './fields.ts'

const methodsMessage = 'must be a list of methods, such as ["eth_call", "eth_getLogs"]'

const onFailure = (what: string) => choice(['error', 'serve']).default('error').describe(what)

const rule = object({
  methods: z
    .array(
      text('must be the name of a method', 100).refine(
        (name) => isConfirmable(methods.get(name) ?? { access: 'read' }),
        {
          error: ({ input }) =>
            `has ${String(input)}, which nodes cannot agree on: use methods that read a block, a transaction or logs`,
        },
      ),
      must(methodsMessage),
    )
    .min(1, methodsMessage)
    .readonly()
    .describe('The methods whose results are confirmed. Each must read a block, a transaction or logs.'),
  nodes: whole(2, 10).default(2).describe('How many independent nodes must agree.'),
  onDispute: onFailure(
    'What the caller gets if the nodes disagree: `error` is [`nodes_disagree`](../failures.md#nodes_disagree), `serve` the response that most of them sent.',
  ),
  onFew: onFailure(
    'What the caller gets if fewer nodes respond: `error` is [`no_upstream`](../failures.md#no_upstream), `serve` the response of those that did.',
  ),
})

/** The schema of `networks.NAME.confirm`. The network checks whether it offers the methods. */
export const confirm = z
  .array(rule, must('must be a list of rules, such as [{ "methods": ["eth_call"], "nodes": 2 }]'))
  .readonly()
  .refine((rules) => {
    const names = rules.flatMap((one) => one.methods)
    return new Set(names).size === names.length
  }, 'must have each method in one rule only')

/** The rules of a network. */
export type ConfirmOptions = z.output<typeof confirm>
