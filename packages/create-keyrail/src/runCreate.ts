import { readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { CreateError } from './createError.ts'
import { createProject } from './createProject.ts'
import { readEndpoint } from './readEndpoint.ts'
import { isOlder } from './isOlder.ts'
import { readShellNode } from './readShellNode.ts'
import { findTemplate, readOptions } from './readOptions.ts'
import { templates } from './templates.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const templateLines = templates.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')

const help = `Create a project that uses Keyrail.

Usage
  npm create keyrail FOLDER -- --template NAME

Templates
${templateLines}

Options
  -t, --template NAME  the template
  --env FILE           read KEYRAIL_BASE_URL and KEYRAIL_API_KEY from FILE, as written by keyrail dev --env
  --base-url URL       the base URL of an app, up to /v2; the key is read from KEYRAIL_API_KEY
  --packages DIR       use the packed packages in DIR instead of the registry
  -h, --help           show this help

Without --env and --base-url, the project uses KEYRAIL_BASE_URL and KEYRAIL_API_KEY of the environment, or else the service of
keyrail dev, with the key in .keyrail of this folder. It prompts for a missing folder or template, but only on a terminal.`

const write = (text: string): void => void process.stdout.write(`${text}\n`)

/** Asks a question on the terminal. @throws {CreateError} if there is no terminal. */
async function ask(question: string, missing: string, hint: string): Promise<string> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw new CreateError(missing, hint)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return (await terminal.question(question)).trim()
  } finally {
    terminal.close()
  }
}

/** The oldest version of Node that a project works with, such as `22.18`. */
function readNeededNode(path: string): string {
  const { engines } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { engines: { node: string } }
  return engines.node.replace('>=', '')
}

async function create(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const options = readOptions(words)
  if (options.help) return write(help)
  const usage = 'for example npm create keyrail my-app -- --template node'
  const folder = options.folder ?? (await ask('Folder: ', 'the folder is missing', usage))
  if (folder === '') throw new CreateError('the folder is missing', usage)
  const template =
    options.template ?? findTemplate(await ask(`${templateLines}\nTemplate: `, 'the template is missing', usage))
  const endpoint = readEndpoint(options, environment, process.cwd())
  const path = resolve(folder)
  createProject({ path, template, endpoint, version, packages: options.packages })
  write(`Created ${basename(path)} with the template ${template.name}.`)
  if (endpoint.apiKey === '') write(`Set ${template.envPrefix}KEYRAIL_API_KEY in ${folder}/${template.envFile} first.`)
  const needed = readNeededNode(path)
  const shellNode = readShellNode(environment)
  write(
    `It needs Node ${needed} or newer.${isOlder(shellNode, needed) ? ` In your shell, node is ${shellNode}: install a newer one first.` : ''}`,
  )
  write(`\nNext:\n  cd ${relative('', path) || '.'}\n  npm install\n  npm test\n  ${template.run}`)
}

/**
 * Runs `npm create keyrail`, and prints the next steps or the failure.
 *
 * @param words - The arguments.
 * @param environment - `KEYRAIL_BASE_URL` and `KEYRAIL_API_KEY` are read.
 * @returns The exit code: 0, or 1 for a failure.
 */
export async function runCreate(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  try {
    await create(words, environment)
    return 0
  } catch (error) {
    if (!(error instanceof CreateError)) throw error
    process.stderr.write(`create-keyrail: ${error.message}\n  hint: ${error.hint}\n`)
    return 1
  }
}
