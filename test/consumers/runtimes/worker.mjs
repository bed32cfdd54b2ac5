// A worker of Cloudflare: uses the service that a request names, and responds with the report.
import { useKeyrail } from './useKeyrail.mjs'

// oxlint-disable-next-line import/no-default-export -- workerd runs it
export default {
  fetch: async (request) => Response.json(await useKeyrail(await request.json())),
}
