import type { ReadArguments } from '../arguments/command.ts'
import type { Actions } from '../control/action.ts'
import { runAction } from '../control/runAction.ts'
import { formatTable } from '../output/formatTable.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import { getStyle } from '../output/style.ts'

const actions: Actions = {
  list: {
    needs: [],
    takes: [],
    run: async ({ api }) => {
      const { items } = await api('GET /api/accounts', {})
      const style = getStyle(process.stdout)
      const rows = items.map(({ id, kind, name, role, state }) => [
        id,
        stripControlCharacters(name),
        kind,
        role,
        state === 'active' ? state : style.bad(state),
      ])
      return {
        json: { items },
        lines: formatTable([['ID', 'NAME', 'KIND', 'ROLE', 'STATE'].map(style.faint), ...rows]),
      }
    },
  },
}

/**
 * `keyrail accounts …`: shows the accounts that a token gives access to, through the control API of a service.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the service rejects the request; 3 without a response.
 */
export function accounts(given: ReadArguments): Promise<number> {
  return runAction('accounts', actions, given)
}
