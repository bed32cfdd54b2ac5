// Runs the checks of `npm test` after set-up. The static checks run at the same time as the tests, because most tests wait for servers.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const top = fileURLToPath(new URL('..', import.meta.url))
const shell = process.platform === 'win32'

/**
 * Runs an npm script.
 *
 * @param stdio - `inherit` prints to our own output.
 * @param env - Environment variables to add.
 * @returns Its exit code, and its output if it was piped.
 */
function runScript(
  name: string,
  stdio: 'inherit' | 'pipe',
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; printed: string }> {
  const child = spawn('npm', ['run', '--silent', name], {
    cwd: top,
    shell,
    stdio: ['ignore', stdio, stdio],
    env: { ...process.env, ...env },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (printed += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, printed }))
  })
}

/** @returns Whether all of them passed. */
async function runStaticChecks(): Promise<boolean> {
  let passed = true
  for (const name of ['format:check', 'lint', 'types']) {
    // The Go programs behind `lint` and `types` need a quarter less CPU time with one thread, and the tests use the other core.
    const { code, printed } = await runScript(name, 'pipe', { GOMAXPROCS: '1' })
    if (code === 0) continue
    passed = false
    process.stderr.write(`\nnpm run ${name} failed:\n${printed}\n`)
  }
  return passed
}

const [isClean, { code }] = await Promise.all([runStaticChecks(), runScript('unit', 'inherit')])
if (!isClean) console.error('\nA static check failed: see above.')
process.exitCode = isClean ? code : 1
