import { z } from 'zod'

const maxSignatures = 300
const maxLength = 32_000

const signature = z
  .string()
  .max(500, { error: 'must have at most 500 characters' })
  .regex(/^error [A-Za-z_$][\w$]*\([\w$ ,()[\]]*\)$/, { error: 'must be an error such as "error Foo(uint256 a)"' })
  .describe('Such as `error Foo(uint256 a)`.')

const signatures = z
  .array(signature)
  .max(maxSignatures, { error: `must have at most ${maxSignatures} errors` })
  .refine((all) => new Set(all).size === all.length, { error: 'must not contain duplicates' })
  .refine((all) => all.reduce((sum, { length }) => sum + length, 0) <= maxLength, {
    error: `must have at most ${maxLength} characters in all`,
  })

export const contractErrorsView = z
  .strictObject({ signatures: z.array(signature) })
  .meta({ id: 'ContractErrors', description: 'The custom errors of the contracts that an app calls.' })

export const setContractErrorsBody = z
  .strictObject({ signatures: signatures.describe(`At most ${maxSignatures}, without duplicates.`) })
  .describe("Replaces an app's custom errors.")
