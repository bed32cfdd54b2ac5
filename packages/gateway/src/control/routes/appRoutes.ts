import { getHighestWeight } from '../../proxy/method/weights.ts'
import { describeMinBurst } from '../account/findLimitsProblem.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { apiErrors } from '../apiErrors.ts'
import { invalidCursor, fromCursor, toCursor } from '../cursor.ts'
import { readExpiry } from '../readExpiry.ts'
import type { FieldProblem } from '../apiErrors.ts'
import { defaultPageLimit } from '../contract/page.ts'
import { toAppUrls, toAppView } from '../views/toAppView.ts'
import { findNetworkProblems } from '../findNetworkProblems.ts'
import { jwtKeyProblem, lacksJwtKey } from '../jwtRequirement.ts'
import { createKey } from './createKey.ts'
import { getAppLimits, toAppViewContext, showApp } from './showApp.ts'
import { appView, appsQuery, appsView, createAppBody, deleteAppBody, editAppBody, newAppView } from '../contract/app.ts'
import type { LimitsView, OwnLimits } from '../contract/controlApi.d.ts'
import { requireAccountId, route } from '../route.ts'
import type { Route } from '../route.ts'

/** Finds limits of an app that exceed those of its account, and a burst below the highest weight of a method. */
const findLimitProblems = (
  own: OwnLimits | null | undefined,
  max: LimitsView,
  minBurst: number,
): readonly FieldProblem[] =>
  (['perSecond', 'perDay', 'perMonth', 'burst'] as const).flatMap((name) => {
    const value = own?.[name]
    const ceiling = max[name]
    if (value === undefined) return []
    if (name === 'burst' && value !== null && value < minBurst)
      return [{ field: 'limits.burst', fix: describeMinBurst(minBurst) }]
    if (ceiling === null || (value !== null && value <= ceiling)) return []
    return [{ field: `limits.${name}`, fix: `must be at most ${ceiling}` }]
  })

/** The routes of apps, without their keys and lists. */
export const appRoutes: readonly Route[] = [
  route(
    'GET /api/apps',
    {
      summary: 'Lists the apps, oldest first.',
      access: 'read',
      query: appsQuery,
      response: appsView,
    },
    async ({ query, caller }, parts) => {
      const { storage, config, now } = parts
      const { cursor, search = '', name, limit = defaultPageLimit } = query
      const userId = requireAccountId(caller)
      const [createdAt, id] = (cursor === undefined ? [] : fromCursor(cursor, ['number', 'string'])) ?? []
      const after = typeof createdAt === 'number' && typeof id === 'string' ? { createdAt, id } : undefined
      if (cursor !== undefined && after === undefined) return { error: invalidCursor() }
      const { items, total } = await storage.apps.page({
        userId,
        search,
        ...(name === undefined ? {} : { name }),
        limit: limit + 1,
        ...(after === undefined ? {} : { after }),
      })
      const shown = items.slice(0, limit)
      const keys = await storage.keys.listByApps({ appIds: shown.map((app) => app.id), userId })
      const last = items.length > limit ? shown.at(-1) : undefined
      const context = toAppViewContext(parts, caller)
      return {
        response: {
          items: shown.flatMap((app) => {
            const key = keys.find(({ appId }) => appId === app.id)
            // The app was deleted between the two queries.
            return key === undefined ? [] : [toAppView(app, key, context)]
          }),
          next: last === undefined ? null : toCursor([last.createdAt, last.id]),
          total,
          free: Math.max(0, config().maxApps - (await storage.apps.countUsed({ userId, now: now() }))),
        },
      }
    },
  ),

  route(
    'POST /api/apps',
    {
      summary: 'Creates an app. The response contains its key.',
      description: 'Later, only the reveal route shows it.',
      access: 'apps:write',
      status: 201,
      body: createAppBody,
      response: newAppView,
    },
    async ({ body, caller }, parts) => {
      const { deployment, now, config } = parts
      const { networks: offered } = deployment()
      const ofChain = Object.entries(offered).flatMap(([name, { chain }]) => (chain === body.chain ? [name] : []))
      const chains = [...new Set(Object.values(offered).map(({ chain }) => chain))]
      const expiry = readExpiry(body.expiresAt ?? null, now())
      const problems = [
        ...(ofChain.length > 0
          ? []
          : [
              { field: 'chain', fix: `must be ${chains.length > 1 ? 'one of ' : ''}${chains.slice(0, 20).join(', ')}` },
            ]),
        ...findNetworkProblems({ networks: body.networks }, offered),
        ...('problem' in expiry ? [expiry.problem] : []),
      ]
      if ('problem' in expiry || problems.length > 0) return { error: apiErrors.invalid(problems) }
      const userId = requireAccountId(caller)
      const { maxApps } = config()
      const { apiKey, stored } = createKey(parts, { kind: 'app', userId })
      const details = {
        name: body.name,
        description: body.description ?? '',
        useCase: body.useCase,
        chain: body.chain,
        services: body.services,
        networks: body.networks ?? ofChain,
      }
      const app = await changeWithAudit(
        parts,
        caller,
        async ({ apps, keys }) => {
          const created = await apps.create({ userId, details, key: stored, max: maxApps, now: now() })
          if (typeof created === 'string' || expiry.at === null) return created
          await keys.edit({ id: stored.id, userId, settings: { expiresAt: expiry.at } })
          return (await apps.find({ id: created.id, userId })) ?? 'notFound'
        },
        ({ id, name }) => ({ action: 'app.create', subject: id, detail: { name, key: stored.id } }),
      )
      if (app === 'nameTaken') return { error: apiErrors.nameTaken() }
      if (app === 'appsFull')
        return {
          error: apiErrors.tooMany(
            `This account has ${maxApps} apps, the maximum. Delete one; a deleted app counts until midnight UTC.`,
          ),
        }
      if (app === 'notFound') return { error: apiErrors.notLoggedIn() }
      const shown = await showApp(parts, caller, { app })
      if ('error' in shown) return shown
      return {
        response: { app: shown.response, apiKey, urls: toAppUrls(deployment().publicUrl, app, apiKey) },
      }
    },
  ),

  route(
    'GET /api/apps/{appId}',
    { summary: 'Gets an app.', access: 'read', response: appView },
    ({ params, caller }, parts) => showApp(parts, caller, { id: params.appId }),
  ),

  route(
    'PATCH /api/apps/{appId}',
    {
      summary: 'Changes an app, if its version is still the one you read.',
      access: 'apps:write',
      body: editAppBody,
      response: appView,
    },
    async ({ params, body, caller }, parts) => {
      const { config, deployment } = parts
      const { version, ...details } = body
      const problems = findLimitProblems(
        details.limits,
        getAppLimits(config, caller),
        getHighestWeight(config().weights, config().networks),
      )
      if (problems.length > 0) return { error: apiErrors.invalid(problems) }
      const id = params.appId
      const userId = requireAccountId(caller)
      const app = await changeWithAudit(
        parts,
        caller,
        async ({ apps, jwtKeys }) => {
          if (lacksJwtKey(details, (await jwtKeys.list({ appId: id, userId })).length))
            return (await apps.find({ id, userId })) === undefined ? 'notFound' : 'noJwtKey'
          const { limits, jwt = {}, ...rest } = details
          if (details.networks !== undefined) {
            const { networks: before } = (await apps.find({ id, userId })) ?? { networks: [] }
            const wrong = findNetworkProblems({ networks: details.networks, before }, deployment().networks)
            if (wrong.length > 0) return { problems: wrong }
          }
          return apps.edit({
            id,
            userId,
            version,
            details: {
              ...rest,
              ...(limits === undefined ? {} : { limits: limits === null ? null : { ...limits } }),
              ...(jwt.audience === undefined ? {} : { jwtAudience: jwt.audience }),
              ...(jwt.maxLifetimeS === undefined ? {} : { jwtMaxLifetimeS: jwt.maxLifetimeS }),
            },
          })
        },
        () => ({ action: 'app.edit', subject: id, detail: details, forget: { kind: 'app', id } }),
      )
      if (typeof app === 'object' && 'problems' in app) return { error: apiErrors.invalid(app.problems) }
      if (app === 'notFound') return { error: apiErrors.notFound() }
      if (app === 'versionMoved') return { error: apiErrors.versionConflict() }
      if (app === 'nameTaken') return { error: apiErrors.nameTaken() }
      if (app === 'noJwtKey') return { error: apiErrors.invalid([jwtKeyProblem]) }
      return showApp(parts, caller, { app })
    },
  ),

  route(
    'POST /api/apps/{appId}/delete',
    {
      summary: 'Deletes an app with its key and lists. The body must contain its name.',
      access: 'apps:write',
      body: deleteAppBody,
    },
    async ({ params, body, caller }, parts) => {
      const { storage, now, requestRecorder } = parts
      const id = params.appId
      const userId = requireAccountId(caller)
      const key = await storage.keys.findByApp({ appId: id, userId })
      const removed = await changeWithAudit(
        parts,
        caller,
        async ({ apps }) => {
          const app = await apps.find({ id, userId })
          if (app === undefined) return 'notFound'
          if (app.name !== body.name.trim()) return 'wrongName'
          return (await apps.remove({ id, userId, now: now() })) ? app : 'notFound'
        },
        ({ name }) => ({ action: 'app.delete', subject: id, detail: { name }, forget: { kind: 'app', id } }),
      )
      if (removed === 'notFound') return { error: apiErrors.notFound() }
      if (removed === 'wrongName')
        return { error: apiErrors.invalid([{ field: 'name', fix: "must be the app's name" }]) }
      // Not awaited: there may be many.
      if (key !== undefined) void requestRecorder.remove([key.id])
      return { response: undefined }
    },
  ),
]
