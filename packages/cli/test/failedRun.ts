import { vi } from 'vitest'
import { readArguments } from '../src/arguments/readArguments.ts'
import { commands } from '../src/commandTable.ts'
import { formatFailure } from '../src/output/formatFailure.ts'
import type { FormattedFailure } from '../src/output/formatFailure.ts'
import { plain } from '../src/output/style.ts'

const variables = ['KEYRAIL_URL', 'KEYRAIL_BASE_URL', 'KEYRAIL_API_KEY', 'KEYRAIL_SERVICE_URL', 'KEYRAIL_TOKEN']

/**
 * Runs a command that is expected to fail, in this process.
 *
 * @param words - The arguments after `keyrail`.
 * @param environment - The environment variables for the CLI.
 * @returns The lines to print, and the exit code.
 */
export async function failedRun(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<FormattedFailure> {
  const [name, ...rest] = words
  const command = commands.find((one) => one.name === name)
  if (command === undefined) throw new Error(`unknown command ${name}`)
  for (const variable of variables) vi.stubEnv(variable, environment[variable] ?? '')
  try {
    await command.run(readArguments(command, rest))
  } catch (error) {
    return formatFailure(error, plain)
  } finally {
    vi.unstubAllEnvs()
  }
  throw new Error('expected a failure')
}
