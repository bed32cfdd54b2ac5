import { accessAppColumns } from './access.ts'
import { listColumns } from './columns.ts'
import { toSnakeCase } from './steps.ts'
import { confirmColumns, recordingColumns } from './tables.ts'
import type { Db } from './tables.ts'

/** The SQL that differs between the databases. */
interface Syntax {
  readonly parameter: string
  readonly list: (values: string, order: string) => string
}

const syntax: Readonly<Record<Db['kind'], Syntax>> = {
  sqlite: {
    parameter: '?1',
    list: (values, order) => `json_group_array(json_array(${values}) order by ${order})`,
  },
  postgres: {
    parameter: '$1',
    list: (values, order) => `cast(json_agg(json_build_array(${values}) order by ${order}) as text)`,
  },
}

const appValues = listColumns(accessAppColumns).map((name) => `a.${toSnakeCase(name)} as "${name}"`)
/** An app's key has the settings of its app. */
const sharedValues = listColumns({ ...recordingColumns, ...confirmColumns }).map((name) => {
  const column = toSnakeCase(name)
  return `coalesce(a.${column}, k.${column}) as "${name}"`
})

const getAccessSql = ({ list }: Syntax, old: string): string => `
  select k.id as key_id, k.kind, coalesce(a.version, k.version) as version, k.state as key_state, ${old} as old,
    k.old_until, k.expires_at, ${sharedValues.join(', ')}, u.id as user_id, u.state as user_state, u.limits as user_limits, u.quota_owner,
    a.id as app_id, k.network, a.networks, ${appValues.join(', ')},
    (select ${list('e.id, e.type, e.value', 'e.id')} from allow_entries e where e.app_id = a.id) as allow,
    (select ${list('j.kid, j.alg, j.public_pem', 'j.kid')} from jwt_keys j where j.app_id = a.id) as jwt_keys
  from keys k join users u on u.id = k.user_id left join apps a on a.id = k.app_id`

/** Gets the statement that finds a key by its SHA-256, or by that of the previous key from before the last rotation. */
export const getAccessByHashSql = (kind: Db['kind']): string => {
  const { parameter } = syntax[kind]
  const old = `case when k.sha256 = ${parameter} then 0 else 1 end`
  return `${getAccessSql(syntax[kind], old)} where k.sha256 = ${parameter} or k.old_sha256 = ${parameter}`
}

/** Gets the statement that finds an app's key by the `kid` of one of the app's JWT keys. */
export const getAccessByKidSql = (kind: Db['kind']): string =>
  `${getAccessSql(syntax[kind], '0')} where k.app_id = (select app_id from jwt_keys where kid = ${syntax[kind].parameter})`
