import { momentText, spanText } from './times.ts'

const actions: Readonly<Record<string, string>> = {
  'account.add': 'Added an account',
  'account.changeEmail': 'Changed the email address',
  'account.changePassword': 'Changed the password',
  'account.connect': 'Connected single sign-on',
  'account.confirmFailed': 'Entered a wrong password',
  'account.delete': 'Deleted the account',
  'account.disconnect': 'Disconnected single sign-on',
  'account.disable': 'Disabled the account',
  'account.emailInvalid': 'Found an email address that is no longer valid',
  'account.emailSimilar': 'Found two email addresses that look alike',
  'account.endSession': 'Ended a session',
  'account.endSessions': 'Ended all other sessions',
  'account.enable': 'Enabled the account',
  'account.factorFailed': 'Failed to prove a second factor',
  'account.forgotPassword': 'Requested a link to reset the password',
  'account.limits': 'Changed the account’s limits',
  'account.logIn': 'Logged in',
  'account.logInFailed': 'Failed to log in',
  'account.logInPending': 'Was asked for a second factor',
  'account.logOut': 'Logged out',
  'account.requestEmail': 'Requested a link to confirm an email address',
  'account.resetLink': 'Created a link to reset the password',
  'account.resetPassword': 'Reset the password',
  'account.role': 'Changed the account’s role',
  'account.signUp': 'Signed up',
  'account.verifyEmail': 'Confirmed the email address',
  'alerts.edit': 'Changed the email alerts',
  'alerts.rules': 'Changed the rules of alerts',
  'allowList.add': 'Added to the allow list',
  'allowList.edit': 'Changed a label on the allow list',
  'allowList.remove': 'Removed from the allow list',
  'app.create': 'Created an app',
  'app.delete': 'Deleted an app',
  'app.edit': 'Changed an app',
  'app.setErrors': 'Changed the contract errors of an app',
  'app.transfer': 'Moved an app to another account',
  'factor.add': 'Added a second factor',
  'factor.remove': 'Removed a second factor',
  'factor.renewRecoveryCodes': 'Created new recovery codes',
  'factor.reset': 'Removed all second factors of the account',
  'factor.useRecoveryCode': 'Used a recovery code',
  'invite.create': 'Created an invite',
  'invite.remove': 'Revoked an invite',
  'jwtKey.add': 'Imported a JWT key',
  'jwtKey.remove': 'Removed a JWT key',
  'key.create': 'Created an API key',
  'key.dropOld': 'Deactivated the old key',
  'key.edit': 'Changed a key',
  'key.reveal': 'Revealed a key',
  'key.revoke': 'Revoked a key',
  'key.rotate': 'Rotated a key',
  'member.add': 'Made a user an owner of the team',
  'member.invite': 'Invited a member',
  'member.join': 'Joined the team',
  'member.leave': 'Left the team',
  'member.remove': 'Removed a member',
  'member.removeInvite': 'Revoked an invite to the team',
  'member.role': 'Changed the role of a member',
  'team.create': 'Created the team',
  'team.delete': 'Deleted the team',
  'team.rename': 'Renamed the team',
  'team.rules': 'Changed what members need for access',
  'token.create': 'Created an access token',
  'token.remove': 'Removed an access token',
  'webhook.create': 'Added a webhook',
  'webhook.remove': 'Removed a webhook',
  'webhook.rotate': 'Rotated the secret of a webhook',
  'webhook.test': 'Sent a test event to a webhook',
}

/** The groups of actions that an audit log can be filtered by. */
export const groups: Readonly<Record<string, string>> = {
  account: 'Account',
  app: 'Apps',
  allowList: 'Allow lists',
  jwtKey: 'JWT keys',
  key: 'Keys',
  factor: 'Second factors',
  token: 'Access tokens',
  alerts: 'Alerts',
  webhook: 'Webhooks',
  invite: 'Invites',
  member: 'Members',
  team: 'Team',
}

const kinds: Readonly<Record<string, string>> = {
  usr: 'Account',
  acc: 'Team',
  app: 'App',
  key: 'Key',
  fac: 'Second factor',
  tok: 'Access token',
  inv: 'Invite',
  ses: 'Session',
  whk: 'Webhook',
}

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)

/** Whether a member is a duration in seconds, by its name. */
const isSpan = (name: string, value: unknown): value is number => typeof value === 'number' && /[a-z]S$/.test(name)

/** `expiresAt` as `expires at`. */
const nameText = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

function valueText(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((one) => valueText(name, one)).join(', ')
  if (isTime(value)) return momentText(value)
  if (isSpan(name, value)) return spanText(value)
  // The service stores times in milliseconds since 1970.
  if (typeof value === 'number' && name.endsWith('At')) return momentText(new Date(value).toISOString())
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'object' && value !== null) return detailText(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Describes an action; an unknown one by its name. */
export const actionText = (action: string): string => actions[action] ?? action

/** The kind of the record that an id belongs to. */
export const kindText = (id: string): string | undefined => kinds[id.slice(0, id.indexOf('_'))]

const authors: Readonly<Record<string, string>> = {
  operator: 'Operator',
  nobody: 'Nobody logged in',
  keyrail: 'Upgrade of the service',
}

/** Names a record: by its name, or if it has none by its kind. */
export const recordText = (id: string, name: string | null): string => name ?? authors[id] ?? kindText(id) ?? id

/** The other details, without empty ones. */
export const detailText = (detail: object): string =>
  Object.entries(detail)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${nameText(isSpan(name, value) ? name.slice(0, -1) : name)}: ${valueText(name, value)}`)
    .join(', ')
