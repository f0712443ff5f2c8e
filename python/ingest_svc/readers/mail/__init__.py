"""Mail: messages, mailboxes and Outlook messages, attachments as files inside."""
