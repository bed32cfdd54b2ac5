import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getPacked } from './getPacked.ts'
import { run } from './run.ts'
import { startRuntimeServers } from './runtimeCalls.ts'
import type { RuntimeReport, RuntimeServers } from './runtimeCalls.ts'
import { skipIfMissing } from '../scripts/externalPrograms.ts'

// Bundles the packed SDK with the Metro of several versions of React Native, and runs the bundles in Hermes, the engine of React Native. The platform is
// that of consumers/reactNative: no test has a device.

// The latest program of Hermes on npm is from 2022. It does not know classes, so the bundles have none, as with every other engine.
const hermesVersion = '0.12.0'
const hermesFolder = { linux: 'linux64-bin', darwin: 'osx-bin' }[process.platform as string]
/** What compiles bundles when an app of the latest version is built. */
const compilerVersion = '260318099.0.5'

const versions = [
  { reactNative: '0.80.3', metro: '0.82.5' },
  { reactNative: '0.84.1', metro: '0.83.7' },
  { reactNative: '0.88.1', metro: '0.87.1' },
] as const

const timeoutMs = 400_000
let home = ''
let servers: RuntimeServers

async function install(folder: string, dependencies: Readonly<Record<string, string>>): Promise<void> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  const npm = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  const { code, stdout, stderr } = await run('npm', npm, { cwd: folder, timeoutMs })
  expect(code, `${stdout}${stderr}`).toBe(0)
}

const program = (...path: string[]): string => join(home, 'node_modules', ...path)

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'keyrail-react-native-'))
  servers = await startRuntimeServers()
  await install(home, { 'hermes-engine-cli': hermesVersion, 'hermes-compiler': compilerVersion })
}, timeoutMs)

afterAll(async () => {
  await servers.stop()
  rmSync(home, { recursive: true, force: true })
})

const options = skipIfMissing(
  hermesFolder === undefined || process.arch !== 'x64'
    ? [{ name: 'Hermes for this platform', fix: 'run the tests on Linux or macOS on x64' }]
    : [],
)

describe.each(versions)('with React Native $reactNative and Metro $metro', options, ({ reactNative, metro }) => {
  let folder = ''
  let bundle = ''

  beforeAll(async () => {
    folder = mkdtempSync(join(home, 'app-'))
    cpSync(join(import.meta.dirname, 'consumers/reactNative'), folder, { recursive: true })
    cpSync(join(import.meta.dirname, 'consumers/runtimes/runCalls.mjs'), join(folder, 'runCalls.js'))
    await install(folder, {
      '@keyrail/core': `file:${getPacked('core').tarball}`,
      '@keyrail/fetch': `file:${getPacked('fetch').tarball}`,
      '@babel/core': '7.28.5',
      '@babel/runtime': '7.28.4',
      '@react-native/babel-preset': reactNative,
      '@react-native/metro-config': reactNative,
      metro,
      // React Native contains it.
      'abort-controller': '3.0.0',
    })
    bundle = join(folder, 'bundle.js')
    const metroArgs = ['index.js', '--out', bundle, '--platform', 'android', '--dev', 'false', '--minify', 'true']
    const args = ['node_modules/metro/src/cli.js', 'build', ...metroArgs, '--config', 'metro.config.js']
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: folder, timeoutMs })
    expect(code, `${stdout}${stderr}`).toBe(0)
    expect(existsSync(bundle)).toBe(true)
  }, timeoutMs)

  test('the packed SDK makes the same calls in Hermes as in every runtime', async () => {
    const hermes = program('hermes-engine-cli', hermesFolder ?? '', 'hermes')
    const args = ['startHermes.mjs', hermes, bundle, servers.given]
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: folder, timeoutMs: 100_000 })
    expect(code, `${stdout}${stderr}`).toBe(0)
    servers.expectReport(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as RuntimeReport, true)
    servers.expectNoKey(`${stdout}${stderr}`)
  })

  test('the compiler of the latest React Native accepts the bundle', async () => {
    const hermesc = program('hermes-compiler/hermesc', hermesFolder ?? '', 'hermesc')
    const args = ['-w', '-O', '-emit-binary', '-out', `${bundle}.hbc`, bundle]
    const { code, stderr } = await run(hermesc, args, { cwd: folder })
    expect(code, stderr).toBe(0)
  })
})
