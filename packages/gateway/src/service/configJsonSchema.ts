import { posix } from 'node:path'
import { z } from 'zod'
import { serviceConfigSchema } from './serviceConfig.ts'

/** Turns a description of the reference page into plain text. A link after "see" becomes the path of its page. */
const toPlainText = (description: string): string =>
  description
    .replace(
      /([Ss]ee )\[[^\]]+\]\(([^)]+)\)/g,
      (_, see: string, to: string) => `${see}${posix.join('docs/reference', to)}`,
    )
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')

/**
 * The JSON Schema of the config file, for editors that complete, explain and validate it. A config can name a copy of it as `$schema`.
 * @param schema - @default that of the config file
 * @returns A draft 2020-12 document. It does not check URLs and IP ranges, which `parseServiceConfig` checks.
 * @example
 * JSON.stringify(configJsonSchema(), undefined, 2)
 */
export const configJsonSchema = (schema: z.ZodType = serviceConfigSchema): Readonly<Record<string, unknown>> => ({
  ...z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.description !== undefined) jsonSchema.description = toPlainText(jsonSchema.description)
    },
  }),
})
