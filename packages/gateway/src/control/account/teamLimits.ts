/** How much there may be of each kind. */
export const teamLimits = {
  /** Teams that a user created. */
  teams: 10,
  /** Members of a team. */
  members: 50,
  /** Open invites to a team. */
  invites: 50,
} as const
