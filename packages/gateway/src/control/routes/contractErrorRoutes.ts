import { contractErrorsView, setContractErrorsBody } from '../contract/contractErrors.ts'
import { apiErrors } from '../apiErrors.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { requireAccountId, route } from '../route.ts'
import type { Route } from '../route.ts'

/** The routes of the custom errors by which the dashboard decodes reverts. */
export const contractErrorRoutes: readonly Route[] = [
  route(
    'GET /api/apps/{appId}/contract-errors',
    {
      summary: 'Lists the custom errors of the contracts that an app calls.',
      access: 'read',
      response: contractErrorsView,
    },
    async ({ params, caller }, { storage }) => {
      const { appId } = params
      const signatures = await storage.contractErrors.list({ appId, userId: requireAccountId(caller) })
      return signatures === undefined ? { error: apiErrors.notFound() } : { response: { signatures } }
    },
  ),

  route(
    'PUT /api/apps/{appId}/contract-errors',
    {
      summary: 'Replaces the custom errors of the contracts that an app calls.',
      description: 'The dashboard decodes the revert data of requests by them.',
      access: 'apps:write',
      body: setContractErrorsBody,
      response: contractErrorsView,
    },
    async ({ params, body, caller }, parts) => {
      const { appId } = params
      const { signatures } = body
      const changed = await changeWithAudit(
        parts,
        caller,
        async ({ contractErrors }) =>
          (await contractErrors.set({ appId, userId: requireAccountId(caller), signatures })) ? signatures : 'notFound',
        () => ({ action: 'app.setErrors', subject: appId, detail: { errors: signatures.length } }),
      )
      return changed === 'notFound' ? { error: apiErrors.notFound() } : { response: { signatures } }
    },
  ),
]
