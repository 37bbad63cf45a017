/** The sign of the house. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M16 10v5.500c0 3-7 2-7 6M16 15.500c0 3 7 2 7 6" />
      <circle cx="16" cy="9" r="3" />
      <circle cx="9" cy="23" r="3" />
      <circle class="spark" cx="23" cy="23" r="3" />
    </svg>
  );
}
