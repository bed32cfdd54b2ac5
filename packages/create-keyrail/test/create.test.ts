import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isOlder } from '../src/isOlder.ts'
import { templates } from '../src/templates.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const apiKey = 'kr_a0123'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-create-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the program without a terminal. */
const create = (words: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
  const { KEYRAIL_BASE_URL: _url, KEYRAIL_API_KEY: _key, ...inherited } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], {
    cwd: folder,
    env: { ...inherited, ...environment },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}
const read = (file: string): string => readFileSync(join(folder, file), 'utf8')

test.each([
  ['20.20.2', true],
  ['22.9.0', true],
  ['22.18.0', false],
  ['24.1.0', false],
])('Node %s is older than 22.18: %s', (version, expected) => {
  expect(isOlder(version, '22.18')).toBe(expected)
})

describe.each(templates)('npm create keyrail -- --template $name', ({ name, envFile, envPrefix, run }) => {
  test('creates a project that uses the service of this folder', () => {
    mkdirSync(join(folder, '.keyrail/keys'), { recursive: true })
    writeFileSync(join(folder, '.keyrail/keys/app'), `${apiKey}\n`)
    const { status, stdout, stderr } = create(['My App', '--template', name])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`npm install\n  npm test\n  ${run}`)
    expect(stdout).toMatch(/It needs Node 22\.18 or newer\.[^]*npm install/)
    expect(read('My App/README.md').split('\n')[2]).toContain('You need Node 22.18 or newer')
    expect(stdout).not.toContain(apiKey)
    const manifest = JSON.parse(read('My App/package.json')) as Record<string, Record<string, string>>
    expect(manifest['name']).toBe('my-app')
    expect({ ...manifest['dependencies'], ...manifest['devDependencies'] }).toMatchObject({
      '@keyrail/core': expect.stringMatching(/^\^\d/),
      '@keyrail/msw': expect.stringMatching(/^\^\d/),
    })
    expect(parseEnv(read(`My App/${envFile}`))).toEqual({
      [`${envPrefix}KEYRAIL_BASE_URL`]: 'http://127.0.0.1:7245/testnet',
      [`${envPrefix}KEYRAIL_API_KEY`]: apiKey,
      [`${envPrefix}KEYRAIL_CHAIN_ID`]: '1952805748',
      // The route of Next.js allows its own pages without it.
      ...(name === 'next' && { ORIGINS: '' }),
    })
    if (process.platform !== 'win32') expect(statSync(join(folder, 'My App', envFile)).mode & 0o777).toBe(0o600)
    expect(read('My App/.gitignore')).toContain('.env*')
    expect(existsSync(join(folder, 'My App/_gitignore'))).toBe(false)
  })
})

test.skipIf(process.platform === 'win32')(
  "npm create keyrail names the old Node of the user's shell, also if npx runs it with a newer one",
  () => {
    const addNode = (path: string, version: string): string => {
      mkdirSync(join(folder, path), { recursive: true })
      writeFileSync(join(folder, path, 'node'), `#!/bin/sh\necho v${version}\n`, { mode: 0o755 })
      return join(folder, path)
    }
    const old = addNode('bin', '20.20.2')
    const ofPackages = addNode('node_modules/.bin', '24.1.0')
    const { stdout } = create(['app', '--template', 'node'], { PATH: `${ofPackages}:${old}:/bin:/usr/bin` })
    expect(stdout).toContain('It needs Node 22.18 or newer. In your shell, node is 20.20.2: install a newer one first.')
  },
)

describe('the endpoint', () => {
  const getVariables = (): unknown => {
    const { KEYRAIL_BASE_URL: url, KEYRAIL_API_KEY: key } = parseEnv(read('app/.env'))
    return [url, key]
  }

  test.each<[string, string[], Record<string, string>, [string, string]]>([
    ['--env', ['--env', 'local.env'], { KEYRAIL_API_KEY: 'other' }, ['http://a.example/net', apiKey]],
    [
      '--base-url',
      ['--base-url', 'http://b.example/net'],
      { KEYRAIL_API_KEY: apiKey },
      ['http://b.example/net', apiKey],
    ],
    [
      'the environment',
      [],
      { KEYRAIL_BASE_URL: 'http://c.example/net', KEYRAIL_API_KEY: apiKey },
      ['http://c.example/net', apiKey],
    ],
    ['nothing', [], {}, ['http://127.0.0.1:7245/testnet', '']],
  ])('is that of %s', (_what, words, environment, expected) => {
    writeFileSync(join(folder, 'local.env'), `KEYRAIL_BASE_URL=http://a.example/net\nKEYRAIL_API_KEY=${apiKey}\n`)
    const { status, stdout } = create(['app', '--template', 'node', ...words], environment)
    expect(status).toBe(0)
    expect(getVariables()).toEqual(expected)
    expect(stdout.includes('Set KEYRAIL_API_KEY in app/.env first.')).toBe(expected[1] === '')
  })

  test('is not the key of this folder if the URL is another', () => {
    mkdirSync(join(folder, '.keyrail/keys'), { recursive: true })
    writeFileSync(join(folder, '.keyrail/keys/app'), apiKey)
    create(['app', '--template', 'node', '--base-url', 'http://b.example/net'])
    expect(getVariables()).toEqual(['http://b.example/net', ''])
  })
})

describe('npm create keyrail', () => {
  test('--help lists the templates', () => {
    const { status, stdout } = create(['--help'])
    expect(status).toBe(0)
    for (const { name } of templates) expect(stdout).toContain(`  ${name} `)
  })

  test('uses packed packages', () => {
    for (const name of ['core', 'fetch', 'msw']) writeFileSync(join(folder, `keyrail-${name}-1.2.3.tgz`), '')
    expect(create(['app', '--template', 'node', '--packages', '.']).status).toBe(0)
    const { dependencies } = JSON.parse(read('app/package.json')) as { dependencies: Record<string, string> }
    expect(dependencies['@keyrail/fetch']).toMatch(/^file:.*keyrail-fetch-1\.2\.3\.tgz$/)
  })

  test('never overwrites a file', () => {
    mkdirSync(join(folder, 'app'))
    writeFileSync(join(folder, 'app/notes.txt'), 'mine')
    const { status, stderr } = create(['app', '--template', 'node'])
    expect(status).toBe(1)
    expect(stderr).toContain('app is not empty\n  hint: use a new folder: no file is ever overwritten\n')
    expect(readdirSync(join(folder, 'app'))).toEqual(['notes.txt'])
  })

  test.each<[string[], string]>([
    [['--template', 'node'], 'the folder is missing'],
    [['app'], 'the template is missing'],
    [['app', '--template', 'vue'], 'there is no template vue\n  hint: use one of react-wagmi, next, node'],
    [['app', 'other', '--template', 'node'], 'only one folder can be created'],
    [['app', '--temlpate', 'node'], "Unknown option '--temlpate'"],
    [['app', '--template', 'node', '--base-url', 'localhost'], '--base-url must be an http or https URL'],
    [['app', '--template', 'node', '--base-url', 'http://a', '--env', 'b'], '--base-url and --env cannot be combined'],
    [['app', '--template', 'node', '--env', 'missing.env'], 'cannot read the --env file'],
    [['app', '--template', 'node', '--packages', '.'], 'the folder of --packages, '],
  ])('rejects %j and creates nothing', (words, message) => {
    const { status, stdout, stderr } = create(words)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`create-keyrail: ${message}`)
    expect(readdirSync(folder)).toEqual([])
  })

  test('names the package that --packages lacks, and the command that packs it', () => {
    const { stderr } = create(['app', '--template', 'node', '--packages', 'packed'])
    expect(stderr).toMatch(
      /[/]packed, has no package @keyrail[/]core\n {2}hint: .* npm run pack -- [/].*[/]packed @keyrail[/]core\n/,
    )
  })
})
