import { fromRow, listColumns, toNewRow } from './columns.ts'
import type { RecordOf } from './columns.ts'
import { changeRows } from './countRows.ts'
import { alertStateColumns } from './tables.ts'
import type { AlertRules, Db } from './tables.ts'

/** An alert about something that lasts. */
export type AlertState = RecordOf<typeof alertStateColumns>

/** An account with rules. */
export interface AccountRules {
  readonly id: string
  readonly email: string
  readonly rules: AlertRules
}

/** The rules of accounts, and the alerts that started and were resolved. */
export interface AlertStates {
  /** @returns `null` if the account has none. */
  getRules(userId: string): Promise<AlertRules | null>
  /** Sets the rules of an account. Alerts of rules that it no longer has are resolved, without a message. */
  setRules(userId: string, rules: AlertRules, now: number): Promise<void>
  /** Lists accounts that are active and have rules, by id, after `after`. */
  listRules(page: { after: string; limit: number }): Promise<readonly AccountRules[]>
  /** Lists the alerts that last: of an account, or of the service (`null`). */
  listStarted(userId: string | null): Promise<readonly AlertState[]>
  /**
   * Starts an alert.
   * @param alert.quietSince - One that was resolved after this time does not start again yet.
   * @returns `false` if it has not started: it lasts, or another instance has started it, or it is too early.
   */
  start(alert: Omit<AlertState, 'resolvedAt'> & { readonly quietSince: number }): Promise<boolean>
  /** @returns `false` if the alert does not last: another instance has resolved it. */
  resolve(alert: Pick<AlertState, 'kind' | 'subject'> & { readonly now: number }): Promise<boolean>
  /** Deletes an alert, as if it had never started. */
  forget(alert: Pick<AlertState, 'kind' | 'subject'>): Promise<void>
}

/** The kinds of alerts that belong to a rule. */
const kindsOfRules = { errorPercent: 'errors', latencyMs: 'latency' } as const

const toRules = (text: string): AlertRules => JSON.parse(text) as AlertRules

/** Creates the access to rules and lasting alerts. */
export const createAlertStates = ({ query }: Db): AlertStates => ({
  getRules: async (userId) => {
    const row = await query.selectFrom('users').select('alertRules').where('id', '=', userId).executeTakeFirst()
    return row === undefined || row.alertRules === null ? null : toRules(row.alertRules)
  },
  setRules: async (userId, rules, now) => {
    const isOff = rules.errorPercent === null && rules.latencyMs === null
    const ended = (['errorPercent', 'latencyMs'] as const).filter((name) => rules[name] === null)
    await query
      .updateTable('users')
      .set({ alertRules: isOff ? null : JSON.stringify(rules) })
      .where('id', '=', userId)
      .execute()
    if (ended.length === 0) return
    await query
      .updateTable('alertStates')
      .set({ resolvedAt: now })
      .where('userId', '=', userId)
      .where('resolvedAt', 'is', null)
      .where(
        'kind',
        'in',
        ended.map((name) => kindsOfRules[name]),
      )
      .execute()
  },
  listRules: async ({ after, limit }) => {
    const rows = await query
      .selectFrom('users')
      .select(['id', 'email', 'alertRules'])
      .where('alertRules', 'is not', null)
      .where('state', '=', 'active')
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(({ id, email, alertRules }) => ({ id, email, rules: toRules(alertRules ?? '') }))
  },
  listStarted: async (userId) => {
    const rows = await query
      .selectFrom('alertStates')
      .select(listColumns(alertStateColumns))
      .where('userId', userId === null ? 'is' : '=', userId)
      .where('resolvedAt', 'is', null)
      .orderBy('kind')
      .orderBy('subject')
      .execute()
    return rows.map((row) => fromRow(alertStateColumns, row))
  },
  start: async ({ quietSince, ...alert }) => {
    const { userId, startedAt } = alert
    const started = await query
      .insertInto('alertStates')
      .values(toNewRow(alertStateColumns, alert))
      .onConflict((conflict) =>
        conflict
          .columns(['kind', 'subject'])
          .doUpdateSet({ userId, startedAt, resolvedAt: null })
          .where('alertStates.resolvedAt', '<=', quietSince),
      )
      .returning('kind')
      .executeTakeFirst()
    return started !== undefined
  },
  resolve: async ({ kind, subject, now }) =>
    (await changeRows(
      query
        .updateTable('alertStates')
        .set({ resolvedAt: now })
        .where('kind', '=', kind)
        .where('subject', '=', subject)
        .where('resolvedAt', 'is', null),
    )) > 0,
  forget: async ({ kind, subject }) => {
    await query.deleteFrom('alertStates').where('kind', '=', kind).where('subject', '=', subject).execute()
  },
})
