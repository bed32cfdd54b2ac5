import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const workspace = join(import.meta.dirname, '../../..')
/** A folder in the package, so that libraries are found. git ignores it. */
const roomOfPrograms = join(import.meta.dirname, '../.keyrail')

/** Runs a copied program in its own folder, with the copied `.env` file. @returns Its output. */
export async function runCopied(text: string, fileName: string, dotEnv: string): Promise<string> {
  mkdirSync(roomOfPrograms, { recursive: true })
  const folder = mkdtempSync(join(roomOfPrograms, 'run-'))
  try {
    writeFileSync(join(folder, fileName), text)
    writeFileSync(join(folder, '.env'), dotEnv)
    const env = { PATH: [join(workspace, 'node_modules/.bin'), process.env['PATH']].join(delimiter) }
    const { stdout } = await promisify(execFile)('node', ['--env-file=.env', fileName], {
      cwd: folder,
      env,
      timeout: 30_000,
    })
    return stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
