"""What grading leaves behind: the journal, the tables, and pages for students and instructors."""
