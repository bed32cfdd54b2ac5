import { z } from 'zod'
import descriptions from './optionDescriptions.json' with { type: 'json' }
import { serviceConfigSchema } from './serviceConfig.ts'

/** The members of a JSON Schema that lead to the options in it. */
interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: SchemaNode | false
  readonly items?: SchemaNode
}

const descriptionByPath = new Map(Object.entries(descriptions))

/** Adds descriptions to a schema and all in it. A path is that of the reference page, such as `networks.NAME.upstreams[].url`. */
const describe = <Node extends SchemaNode>(schema: Node, path: string): Node => {
  const { properties, additionalProperties, items } = schema
  const description = descriptionByPath.get(path)
  return {
    ...(description !== undefined && { description }),
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [
          name,
          describe(member, path === '' ? name : `${path}.${name}`),
        ]),
      ),
    }),
    ...(additionalProperties && { additionalProperties: describe(additionalProperties, `${path}.NAME`) }),
    ...(items && { items: describe(items, `${path}[]`) }),
  }
}

/**
 * The JSON Schema of the config file, for editors that complete, explain and validate it. A config can name a copy of it as `$schema`.
 * @returns A draft 2020-12 document. It does not check URLs and IP ranges, which `parseServiceConfig` checks.
 * @example
 * JSON.stringify(configJsonSchema(), undefined, 2)
 */
export const configJsonSchema = (): Readonly<Record<string, unknown>> => ({
  ...describe(z.toJSONSchema(serviceConfigSchema, { io: 'input' }) as SchemaNode, ''),
})
