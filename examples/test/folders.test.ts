import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const names = globSync('examples/*/package.json', { cwd: root })
  .map((file) => basename(dirname(file)))
  .filter((name) => name !== 'test')
const tests = globSync(['examples/test/*.{test,verify}.ts', 'packages/msw/test/example.verify.ts'], { cwd: root })
  .filter((file) => !file.endsWith('folders.test.ts'))
  .map(read)
  .join()

describe.each(names)('examples/%s', (name) => {
  test('has a start script, which its README mentions', () => {
    expect(read(`examples/${name}/README.md`)).toContain('npm start')
    const manifest = JSON.parse(read(`examples/${name}/package.json`)) as Record<string, unknown>
    expect(manifest).toMatchObject({
      name: `@keyrail/example-${name}`,
      private: true,
      scripts: { start: expect.any(String) },
    })
  })

  test('is run by a test and linked in both READMEs', () => {
    expect(tests).toContain(name)
    expect(read('README.md')).toContain(`](examples/${name}/README.md)`)
    expect(read('examples/README.md')).toContain(`](${name}/README.md)`)
  })
})
