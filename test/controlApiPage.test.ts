import { expect, test } from 'vitest'
import { controlApiPage, getSample } from '../docs/.vitepress/controlApiPage.ts'
import { headingSlug } from '../docs/.vitepress/headingSlug.ts'
import { readControlApi } from '../docs/.vitepress/readControlApi.ts'
import { getRoute, routeNames } from '../packages/gateway/src/control/routes.ts'
import { top } from './run.ts'

const page = controlApiPage(top)
const { routes, types } = readControlApi(top)
const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading.replaceAll('`', ''))

test('the control API reference has one section for each route', () => {
  expect(headings.filter((heading) => heading.includes(' ')).sort()).toEqual([...routeNames].sort())
})

test('each route has its status, its access and a command', () => {
  for (const { method, path, access, status, confirms } of routes) {
    const route = getRoute(`${method} ${path}` as (typeof routeNames)[number])
    expect({ access, status, confirms }).toEqual({
      access: route.access,
      status: route.status,
      confirms: route.confirms ?? false,
    })
  }
  expect(page.split('\ncurl').length - 1).toBe(routeNames.length)
})

test('the body of each command is valid', () => {
  const wrong = routes.flatMap(({ method, path, body }) => {
    const name = `${method} ${path}` as (typeof routeNames)[number]
    const schema = getRoute(name).body
    if (body === undefined || schema === undefined) return body === schema ? [] : [name]
    return schema.safeParse(getSample(body, types)).success ? [] : [name]
  })
  expect(wrong).toEqual([])
})

test('each type that a response links to is on the page', () => {
  const anchors = new Set(headings.map(headingSlug))
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor)
  expect(links.length).toBeGreaterThan(50)
  expect(links.filter((anchor) => !anchors.has(anchor))).toEqual([])
})
