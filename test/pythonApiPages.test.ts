import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { apiPages } from '../docs/.vitepress/apiPages.ts'
import { pythonApiPages } from '../docs/.vitepress/pythonApiPages.ts'
import { top } from './run.ts'

const packages = { 'api/python.md': '', 'api/python-testing.md': 'testing/' }
const pages = pythonApiPages(top)

test.skipIf(pages.length === 0)('the reference of Python has every public name, and links to headings alone', () => {
  expect(pages.map(({ path }) => path)).toEqual(Object.keys(packages))
  const headings = new Set(
    pages.flatMap(({ path, markdown }) =>
      [...markdown.matchAll(/^## (\w+)( \(class\))?$/gm)].map(([, name = '', suffix]) =>
        `/${path}#${name}${suffix ? '-class' : ''}`.toLowerCase(),
      ),
    ),
  )
  for (const [path, folder] of Object.entries(packages)) {
    const { markdown = '', names } = pages.find((page) => page.path === path) ?? {}
    const source = readFileSync(join(top, 'packages/python/src/keyrail', folder, '__init__.py'), 'utf8')
    const [, all = ''] = /^__all__ = \[([^\]]*)\]/m.exec(source) ?? []
    const exported = [...all.matchAll(/"(\w+)"/g)].map(([, name = '']) => name)
    expect(names).toBe(exported.length)
    const missing = exported.filter(
      (name) => !new RegExp(`^## ${name}( \\(class\\))?\\n\\n(?!\`\`\`)`, 'm').test(markdown),
    )
    expect(missing, 'names without a heading or a docstring').toEqual([])
    const links = [...markdown.matchAll(/\]\((\/api\/[^)]+|#[^)]+)\)/g)].map(([, link = '']) =>
      link.startsWith('#') ? `/${path}${link}` : link,
    )
    expect(links.filter((link) => !headings.has(link))).toEqual([])
  }
  const index = apiPages(top).find(({ path }) => path === 'api/index.md')
  expect(index?.markdown).toContain('- [keyrail (Python)](/api/python.md): ')
})

test('without Python the site has no reference of it', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    expect(pythonApiPages(top, ['no-such-python'])).toEqual([])
    expect(write.mock.calls).toEqual([[expect.stringContaining('no Python 3.11 or newer')]])
  } finally {
    write.mockRestore()
  }
})
