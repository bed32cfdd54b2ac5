// A worker of Cloudflare: uses the service that a request names, and responds with the report.
import { useKeyrail } from './useKeyrail.mjs'

export default {
  fetch: async (request) => Response.json(await useKeyrail(await request.json())),
}
