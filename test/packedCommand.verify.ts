import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findFences } from './findFences.ts'
import { getPacked } from './getPacked.ts'
import { workspacePackages } from './publishedPackages.ts'
import { run, top } from './run.ts'

const timeoutMs = 600_000
const node24 = join(top, 'node_modules/node/bin')
const [fromSource, installed] = findFences(readFileSync(join(top, 'docs/cli.md'), 'utf8')).map(({ code }) => code)

/** The packages that `keyrail` needs, with itself. */
function getNeeded(name: string, needed = new Set<string>()): ReadonlySet<string> {
  const found = workspacePackages.find(({ manifest }) => manifest.name === name)
  if (!found || needed.has(name)) return needed
  needed.add(name)
  for (const dependency of Object.keys(found.manifest.dependencies ?? {})) getNeeded(dependency, needed)
  return needed
}

test('the command runs from source by the words of docs/cli.md', { timeout: timeoutMs }, async () => {
  const { code, stdout, stderr } = await run('sh', ['-ec', fromSource ?? ''], { cwd: top, timeoutMs })
  expect(code, stdout + stderr).toBe(0)
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(getPacked('cli').manifest.version)
})

test(
  'the command is installed and runs by the words of docs/cli.md',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'keyrail-home-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const [pack, ...commands] = (installed ?? '').split('\n')
    // The tests have already built and packed the packages: this command needs minutes.
    const [, folder = '', name] = /^npm run pack -- ~\/(\S+) (\S+)$/.exec(pack ?? '') ?? []
    expect(name).toBe('keyrail')
    for (const { manifest, folder: source } of workspacePackages) {
      if (!getNeeded('keyrail').has(manifest.name)) continue
      const { tarball } = getPacked(source)
      cpSync(tarball, join(home, folder, `${manifest.name.replace('@', '').replace('/', '-')}.tgz`))
    }
    expect(globSync('*.tgz', { cwd: join(home, folder) })).toHaveLength(5)
    const prefix = join(home, 'global')
    const env = {
      HOME: home,
      npm_config_prefix: prefix,
      npm_config_cache: join(process.env['HOME'] ?? home, '.npm'),
      npm_config_prefer_offline: 'true',
      PATH: [join(prefix, 'bin'), node24, process.env['PATH']].join(delimiter),
    }
    expect(commands).toEqual([expect.stringMatching(/^npm install --global ~\/\S+\/\*\.tgz$/), 'keyrail --version'])
    const { code, stdout, stderr } = await run('sh', ['-ec', commands.join('\n')], { cwd: home, env, timeoutMs })
    expect(code, stdout + stderr).toBe(0)
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(getPacked('cli').manifest.version)
    // The dashboard is in the package.
    const once = await run('keyrail', ['dev', '--once', '--port', '0', '--ephemeral'], { cwd: home, env, timeoutMs })
    expect(once.code, once.stderr).toBe(0)
    expect(once.stdout).toContain('Every result matches the node.')
  },
  timeoutMs,
)
