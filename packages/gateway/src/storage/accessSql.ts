import type { Db } from './tables.ts'

/** The same words in both databases, but for these. */
interface Words {
  readonly parameter: string
  readonly list: (values: string, order: string) => string
}

const words: Readonly<Record<Db['kind'], Words>> = {
  sqlite: {
    parameter: '?1',
    list: (values, order) => `json_group_array(json_array(${values}) order by ${order})`,
  },
  postgres: {
    parameter: '$1',
    list: (values, order) => `cast(json_agg(json_build_array(${values}) order by ${order}) as text)`,
  },
}

const access = ({ list }: Words, old: string): string => `
  select k.id as key_id, k.kind, coalesce(a.version, k.version) as version, k.state as key_state, ${old} as old,
    k.old_until, k.expires_at, u.id as user_id, u.state as user_state, u.limits as user_limits, u.quota_owner,
    a.id as app_id, a.services, a.testnet, a.mainnet, a.require_jwt, a.jwt_audience, a.jwt_max_lifetime_s, a.limits as app_limits,
    (select ${list('e.type, e.value', 'e.id')} from allow_entries e where e.app_id = a.id) as allow,
    (select ${list('j.kid, j.alg, j.public_pem', 'j.kid')} from jwt_keys j where j.app_id = a.id) as jwt_keys
  from keys k join users u on u.id = k.user_id left join apps a on a.id = k.app_id`

/** Finds all about a key by its SHA-256: its own, or that from before the last rotation. */
export const accessByHash = (kind: Db['kind']): string => {
  const { parameter } = words[kind]
  const old = `case when k.sha256 = ${parameter} then 0 else 1 end`
  return `${access(words[kind], old)} where k.sha256 = ${parameter} or k.old_sha256 = ${parameter}`
}

/** Finds all about an app's key by the id of one of the app's JWT keys. */
export const accessByKid = (kind: Db['kind']): string =>
  `${access(words[kind], '0')} where k.app_id = (select app_id from jwt_keys where kid = ${words[kind].parameter})`
