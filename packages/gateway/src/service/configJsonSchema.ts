import { z } from 'zod'
import { serviceConfigSchema } from './serviceConfig.ts'

/**
 * The config file as JSON Schema, for editors that complete and check it: its `$schema` may name a file with this.
 * @returns A document of draft 2020-12. What it lets pass is not all right yet: URLs and ranges are checked when the file is read.
 * @example
 * JSON.stringify(configJsonSchema(), undefined, 2)
 */
export const configJsonSchema = (): Readonly<Record<string, unknown>> => ({
  ...z.toJSONSchema(serviceConfigSchema, { io: 'input' }),
})
