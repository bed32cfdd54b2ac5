import type { AccountError } from './accountError.ts'

/** The errors about teams and their members. */
export const teamErrors = {
  personal: (): AccountError => ({
    status: 409,
    code: 'personal_account',
    message:
      'This is your personal account, which has no other members. Create a team, then name it in the header X-Keyrail-Account.',
  }),
  noMember: (): AccountError => ({
    status: 403,
    code: 'role_required',
    message: 'You are no longer a member of this team with a role that may do this. Ask an owner of the team.',
  }),
  unknownMember: (): AccountError => ({
    status: 404,
    code: 'not_found',
    message: 'This user is not a member of the team. List its members to find the id.',
  }),
  unknownInvite: (): AccountError => ({
    status: 404,
    code: 'not_found',
    message: 'This invite was used, was revoked or has expired.',
  }),
  ownersOnly: (): AccountError => ({
    status: 403,
    code: 'role_required',
    message: 'Only an owner of the team can invite, change or remove owners. Ask an owner.',
  }),
  lastOwner: (): AccountError => ({
    status: 409,
    code: 'last_owner',
    message: 'This is the last owner of the team. Make another member an owner first, or delete the team.',
  }),
  isCreator: (): AccountError => ({
    status: 409,
    code: 'shares_limits',
    message:
      "The team shares this user's limits. Remove the user, so that it shares yours, or ask an operator for limits of its own.",
  }),
  sharesOwnLimits: (name: string): AccountError => ({
    status: 409,
    code: 'shares_limits',
    message: `${name} shares your limits. Ask another owner to remove you: it then shares theirs. Or delete the team.`,
  }),
  limitsFull: (name: string): AccountError => ({
    status: 409,
    code: 'too_many',
    message: `${name} would share your limits, which have no room for its apps and API keys. Delete some of them, or ask an operator for limits of its own.`,
  }),
  tokenRoles: (): AccountError => ({
    status: 403,
    code: 'session_required',
    message:
      'An access token can only give the role viewer, because other roles can reveal keys. Log in to the dashboard.',
  }),
  /** @param names - Of the teams. */
  lastOwnerOf: (names: readonly string[]): AccountError => ({
    status: 409,
    code: 'last_owner',
    message: `You are the last owner of ${names.join(', ')}. Make another member an owner, or delete the team. Then delete your account.`,
  }),
  alreadyMember: (): AccountError => ({
    status: 409,
    code: 'already_member',
    message: 'The user with this email address is already a member of the team. Change the role instead.',
  }),
  wrongName: (): AccountError => ({
    status: 422,
    code: 'name_wrong',
    message: 'name must be the name of the team.',
    field: 'name',
  }),
  invite: (): AccountError => ({
    status: 404,
    code: 'invite_invalid',
    message:
      'This invite was used, was revoked, has expired, or is for another email address. Log in with that address, or ask for a new invite.',
    field: 'invite',
  }),
  emailUnverified: (): AccountError => ({
    status: 403,
    code: 'email_unverified',
    message:
      'Your email address is not confirmed. Request a link to it in the dashboard under Account → Security and open it, then accept the invite.',
  }),
  tooMany: (max: number): AccountError => ({
    status: 409,
    code: 'too_many',
    message: `You have created ${max} teams, the maximum. Delete one first.`,
  }),
  tooManyMembers: (max: number): AccountError => ({
    status: 409,
    code: 'too_many',
    message: `The team has ${max} members, the maximum. Remove one first.`,
  }),
  tooManyInvites: (max: number): AccountError => ({
    status: 409,
    code: 'too_many',
    message: `The team has ${max} open invites, the maximum. Revoke one first.`,
  }),
} as const
