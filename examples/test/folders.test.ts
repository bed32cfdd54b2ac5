import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const top = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(top, file), 'utf8')
const names = readdirSync(join(top, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['node_modules', 'test'].includes(entry.name))
  .map(({ name }) => name)
const tests = globSync(['examples/test/*.{test,verify}.ts', 'packages/msw/test/example.verify.ts'], { cwd: top })
  .filter((file) => !file.endsWith('folders.test.ts'))
  .map(read)
  .join()

describe.each(names)('examples/%s', (name) => {
  test('starts with npm start, as its README says', () => {
    expect(read(`examples/${name}/README.md`)).toContain('npm start')
    const manifest = JSON.parse(read(`examples/${name}/package.json`)) as Record<string, unknown>
    expect(manifest).toMatchObject({
      name: `@keyrail/example-${name}`,
      private: true,
      scripts: { start: expect.any(String) },
    })
  })

  test('is run by a test, and found from the front page', () => {
    expect(tests).toContain(name.replace(/^latest-block-.*/, 'latest-block'))
    expect(read('README.md')).toContain(`](examples/${name}/README.md)`)
  })
})
